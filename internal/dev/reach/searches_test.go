package reach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/patch"
)

// The search for a mutant ends with the first kind that has a find. One that does not count is explored from one first
// seed.
func TestMeasureEndsEarly(t *testing.T) {
	l := limits{Runs: 500, Starts: 3, Seeds: 2, Placements: 100}
	for _, tc := range []struct {
		name string
		s    subject
		find string // the search with a find, and the kind
		want string
	}{
		{"found in the first kind", subject{patch: &patch.Patch{}}, "explore single", "single 3"},
		{"found in the second kind", subject{patch: &patch.Patch{}}, "explore redlock", "single 3, redlock 3"},
		{"equivalent", subject{patch: &patch.Patch{}, equivalent: "It is."}, "", "single 1, redlock 1"},
		{"found in the library", subject{patch: &patch.Patch{}}, "matrix single", "single 3"},
	} {
		tc.s.kinds = []string{"single", "redlock"}
		fake := func(_ context.Context, args ...string) (int, []byte, error) {
			if args[0]+" "+args[slices.Index(args, "--lock")+1] == tc.find {
				return exitFound, nil, nil
			}
			return 0, nil, nil
		}
		var r result
		if err := measure(t.Context(), fake, tc.s, "sweep.yaml", l, &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range r.Kinds {
			got = append(got, fmt.Sprintf("%s %d", k.Kind, len(k.Explore)))
		}
		if text := strings.Join(got, ", "); text != tc.want || !tc.s.complete(r) {
			t.Errorf("%s: explored %s, complete: %v; want %s and true", tc.name, text, tc.s.complete(r), tc.want)
		}
	}
}

// The searches for a mechanical mutant begin with the cheapest in all kinds, and end with the first find. An
// interrupted search goes on with the one that is missing.
func TestMechanicalSearches(t *testing.T) {
	l := limits{Runs: 2000, Starts: 3, Seeds: 2, Placements: 100}
	steps := []string{
		"explore single --runs 100 --from-seed 1", "explore redlock --runs 100 --from-seed 1",
		"matrix single --seeds 1", "matrix redlock --seeds 1",
		"matrix single --seeds 2", "matrix redlock --seeds 2",
		"sweep single", "sweep redlock",
		"explore single --runs 1900 --from-seed 101", "explore redlock --runs 1900 --from-seed 101",
		"explore single --runs 2000 --from-seed 1000001", "explore redlock --runs 2000 --from-seed 1000001",
		"explore single --runs 2000 --from-seed 2000001", "explore redlock --runs 2000 --from-seed 2000001",
	}
	fromOthers := func(kind string) []string { // the searches of that kind from the other first seeds
		return slices.DeleteFunc(slices.Clone(steps[10:]), func(s string) bool { return !strings.Contains(s, kind) })
	}
	for _, tc := range []struct {
		name, equivalent, find string
		want                   []string
	}{
		{"found at once", "", "explore single --runs 100 --from-seed 1", slices.Concat(steps[:1], fromOthers("single"))},
		{"found in the library of the second kind", "", "matrix redlock --seeds 1", steps[:4]},
		{"found late", "", "explore redlock --runs 1900 --from-seed 101", slices.Concat(steps[:10], fromOthers("redlock"))},
		{"found from the last seed", "", steps[13], steps},
		{"not found", "", "", steps},
		{"equivalent", "It is.", "", steps[:4]},
	} {
		var asked []string
		interrupted := errors.New("interrupted")
		for _, after := range []int{2, 11, 100} { // the search is interrupted after so many
			asked = nil
			fake := func(_ context.Context, args ...string) (int, []byte, error) {
				text := args[0] + " " + args[slices.Index(args, "--lock")+1]
				for _, flag := range []string{"--runs", "--seeds", "--from-seed"} {
					if i := slices.Index(args, flag); i >= 0 {
						text += " " + flag + " " + args[i+1]
					}
				}
				if slices.Contains(args, "0/100000") { // it only counts the placements
					return 0, nil, nil
				}
				asked = append(asked, text)
				if text == tc.find {
					return exitFound, nil, nil
				}
				return 0, nil, nil
			}
			s := subject{edit: &mechanical.Edit{}, kinds: []string{"single", "redlock"}, equivalent: tc.equivalent}
			var r result
			kept := 0
			keep := func() error {
				if kept++; kept == after {
					return interrupted
				}
				return nil
			}
			err := measureMechanical(t.Context(), fake, s, "sweep.yaml", l, 5, &r, keep)
			if errors.Is(err, interrupted) {
				err = measureMechanical(t.Context(), fake, s, "sweep.yaml", l, 5, &r, keep)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(asked, tc.want) || !s.complete(r) || !s.ended(r, l) || len(r.Searches) != len(tc.want) || kept != len(tc.want) {
				t.Errorf("%s, interrupted after %d: asked\n%s\n%d results, complete: %v, ended: %v; want\n%s", tc.name, after,
					strings.Join(asked, "\n"), len(r.Searches), s.complete(r), s.ended(r, l), strings.Join(tc.want, "\n"))
			}
		}
		// Only the cheap searches.
		asked = nil
		var r result
		s := subject{edit: &mechanical.Edit{}, kinds: []string{"single"}}
		err := measureMechanical(t.Context(), func(_ context.Context, args ...string) (int, []byte, error) {
			asked = append(asked, args[0])
			return 0, nil, nil
		}, s, "sweep.yaml", l, 2, &r, func() error { return nil })
		if err != nil || !slices.Equal(asked, []string{"explore", "matrix"}) || s.complete(r) {
			t.Errorf("two searches are %v, %v, complete: %v", asked, err, s.complete(r))
		}
	}
}

// A table of a part says how many mechanical mutants have no result, beside the share of those found.
func TestTableOfAPart(t *testing.T) {
	r := row{subject{name: "mechanical/a", edit: &mechanical.Edit{}, kinds: []string{"single"}}, result{Searches: []searched{{"single", stepQuick, 0, found{Exit: exitFound, Runs: 7, What: "overlap in mode none"}}}}, false}
	byHand := row{subject{name: "queue/d", patch: &patch.Patch{}, kinds: []string{"fair"}}, result{Kinds: []kindResult{{Kind: "fair", Explore: []found{{Runs: 10_000}}}}}, false}
	table := markdown([]row{byHand, r}, []string{"mechanical/b", "queue/c"}, limits{Starts: 1}, mechanical.Sample{}, "")
	again := r
	again.Searches = append(slices.Clone(r.Searches), searched{"single", stepExplore, 1, found{Runs: 10_000}}, searched{"single", stepExplore, 2, found{Exit: exitFound, Runs: 1234}})
	for starts, want := range map[int]string{2: "explore, run 7, –: overlap", 3: "explore, run 7, –, 1,234: overlap"} {
		part := again
		part.Searches = part.Searches[:starts]
		table := markdown([]row{part}, nil, limits{Starts: starts}, mechanical.Sample{}, "")
		if !strings.Contains(table, want) || !strings.Contains(table, "| 1 | 1 (100 %) | 0 | 0 | 1 | 0 |\n") || strings.Contains(table, "first seed only") {
			t.Errorf("the table of %d first seeds lacks %q:\n%s", starts, want, table)
		}
	}
	if table := markdown([]row{r}, nil, limits{Starts: 3}, mechanical.Sample{}, ""); !strings.Contains(table, "\nMutants that were explored from the first seed only: 1.\n") {
		t.Errorf("the table does not say that two first seeds are missing:\n%s", table)
	}
	for _, want := range []string{
		"\nWithout a result yet, 2: mechanical/b, queue/c. ",
		"\n| made by hand, but for 1 without a result | 1 | 0 (0 %) | 0 | 0 | 0 | 0 |\n",
		"\n| mechanical, killed by the unit tests, but for 1 without a result | 1 | 1 (100 %) | 0 | 0 | 1 | 1 |\n",
		"| single | explore, run 7: overlap in mode none |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}
