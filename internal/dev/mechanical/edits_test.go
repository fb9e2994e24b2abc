package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/dev/checkout"
	"locksim/internal/dev/patch"
)

// Each case is a small source with all its mutants: the name, and what is there instead of what.
func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		file, text string
		want       []string
	}{
		{"lock/a.go", `package lock

import "context"

const size = 4

func (l *lease) renew(ctx context.Context, n int) (ok bool, err error) {
	defer l.close()
	sent := now()
	if n > 0 && sent.Before(l.until) {
		n--
		return false, errLate
	}
	for n < 0x10 || l.done {
		ask(l.ctx, ctx, func() error { return nil })
	}
	switch {
	case n == 1:
		l.lose()
	}
	return true, nil
}

func (b Backoff) validate() error {
	if b.Min < 0 {
		return errLate
	}
	return nil
}
`, []string{
			"a-more-1: 4 -> 5",
			"a-less-1: 4 -> 3",
			"a-lease.renew-drop-1: defer l.close() -> ",
			"a-lease.renew-drop-2: if n > 0 && sent.Before(l.until) { n-- return false, errLate } -> ",
			"a-lease.renew-negate-1: n > 0 && sent.Before(l.until) -> !(n > 0 && sent.Before(l.until))",
			"a-lease.renew-bound-1: > -> >=",
			"a-lease.renew-more-1: 0 -> 1",
			"a-lease.renew-less-1: 0 -> (-1)",
			"a-lease.renew-either-1: && -> ||",
			"a-lease.renew-bound-2: sent.Before(l.until) -> (!sent.After(l.until))",
			"a-lease.renew-drop-3: n-- -> ",
			"a-lease.renew-drop-4: return false, errLate -> ",
			"a-lease.renew-success-1: errLate -> nil",
			"a-lease.renew-drop-5: for n < 0x10 || l.done { ask(l.ctx, ctx, func() error { return nil }) } -> ",
			"a-lease.renew-negate-2: n < 0x10 || l.done -> !(n < 0x10 || l.done)",
			"a-lease.renew-bound-3: < -> <=",
			"a-lease.renew-more-2: 0x10 -> 17",
			"a-lease.renew-less-2: 0x10 -> 15",
			"a-lease.renew-both-1: || -> &&",
			"a-lease.renew-drop-6: ask(l.ctx, ctx, func() error { return nil }) -> ",
			"a-lease.renew-context-1: l.ctx -> context.Background()",
			"a-lease.renew-context-2: ctx -> context.Background()",
			"a-lease.renew-drop-7: return nil -> ",
			"a-lease.renew-drop-8: switch { case n == 1: l.lose() } -> ",
			"a-lease.renew-drop-9: case n == 1: l.lose() -> ",
			"a-lease.renew-more-3: 1 -> 2",
			"a-lease.renew-less-3: 1 -> 0",
			"a-lease.renew-drop-10: l.lose() -> ",
			"a-lease.renew-drop-11: return true, nil -> ",
		}},
		{"lock/b.lua", `-- redis.call == and or
local n = redis.call('GET', 'a == b and c')
if not n or n <= 1 then -- less == 1
  redis.call('DEL', KEYS[1])
  n = 2
end
return n ~= 1
`, []string{
			"b.lua-both-1: or -> and",
			"b.lua-bound-1: <= -> <",
			"b.lua-drop-1: redis.call('DEL', KEYS[1]) -> ",
			"b.lua-drop-2: n = 2 -> ",
			"b.lua-drop-3: return n ~= 1 -> ",
			"b.lua-negate-1: ~= -> ==",
		}},
	} {
		list, err := edits(tc.file, []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, fmt.Sprintf("%s: %s -> %s", strings.TrimPrefix(e.name, "mechanical/"), strings.Join(strings.Fields(e.before), " "), e.after))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s has\n%s\nwant\n%s", tc.file, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// A mutant changes its place and no other byte of the file.
func TestAMutantChangesOnePlace(t *testing.T) {
	root := t.TempDir()
	const text = "package lock\n\nfunc f(n int) bool   { return n<1 } // odd format\n"
	if err := os.Mkdir(filepath.Join(root, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "lock", "a.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := edits("lock/a.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(e edit) bool { return e.name == "mechanical/a-f-bound-1" })
	got, err := list[i].mutated(root)
	if want := strings.Replace(text, "n<1", "n<=1", 1); err != nil || got != want {
		t.Errorf("the mutant is\n%s%v, want\n%s", got, err, want)
	}
	if err := os.WriteFile(file, []byte("package lock\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := list[i].mutated(root); err == nil {
		t.Error("a mutant of a file that has changed is made")
	}
}

// The mutants of package lock have names of their own, and kinds that are searched. The names of functions are those of the source.
func TestMechanicalMutants(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := listAll(root)
	if err != nil {
		t.Fatal(err)
	}
	names, files := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if names[e.name] || strings.Count(e.name, "/") != 1 {
			t.Errorf("%s: the name is odd, or taken", e.name)
		}
		names[e.name] = true
		if n := len(e.kinds()); n < 1 || n > 2 {
			t.Errorf("%s is searched in %d kinds of lock", e.name, n)
		}
		base := filepath.Base(e.file)
		files[base], files[base+":"+e.function] = true, true
		if e.before == e.after {
			t.Errorf("%s changes nothing", e.name)
		}
	}
	for name := range concerned {
		if !files[name] {
			t.Errorf("%s has kinds, and no mutants", name)
		}
	}
	declared := map[string]bool{}
	sources, err := filepath.Glob(filepath.Join(root, "lock", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) (\w+)\(`).FindAllSubmatch(text, -1) {
			declared[fmt.Sprintf("%s.%s", m[1], m[2])] = true
		}
	}
	for _, name := range unconcerned {
		if !declared[name] {
			t.Errorf("package lock has no function %s", name)
		}
	}
}

// The sample is that of the file, in its order. Each of its mutants compiles, since only such are drawn.
func TestSampleIsThatOfTheFile(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	drawn, possible, tried, err := drawSample(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(drawn) != sampleSize || possible != r.Possible || tried != r.Drawn {
		t.Errorf("%d of %d possible mutants after %d draws, the file has %d of %d after %d: run go -C internal/dev run ./reach --unit-tests",
			len(drawn), possible, tried, len(r.Mutants), r.Possible, r.Drawn)
	}
	if !slices.EqualFunc(r.Mutants, drawn, unitTest.is) {
		t.Errorf("the sample is not that of %s: run go -C internal/dev run ./reach --unit-tests", sampleFile)
	}
}

// A result of another source is kept on demand only, and stays marked from then on.
func TestKeptUnitTests(t *testing.T) {
	r := record{Source: "now", Mutants: []unitTest{{Name: "a", Killed: true}, {Name: "b", Earlier: true}}}
	for _, c := range []struct {
		source  string
		earlier bool
		want    []unitTest
	}{
		{"now", false, []unitTest{{Name: "a", Killed: true}}},
		{"now", true, r.Mutants},
		{"next", false, nil},
		{"next", true, []unitTest{{Name: "a", Killed: true, Earlier: true}, {Name: "b", Earlier: true}}},
	} {
		if got := r.kept(c.source, c.earlier); !slices.Equal(got, c.want) {
			t.Errorf("source %s, earlier %v: %v, want %v", c.source, c.earlier, got, c.want)
		}
	}
}

// The same mutants are drawn, whatever becomes of the others: the draw of one depends on its name alone.
func TestSampleIsStable(t *testing.T) {
	var all []edit
	for i := range 50 {
		all = append(all, edit{name: fmt.Sprintf("mechanical/a-f-drop-%d", i)})
	}
	compiles := func(e edit) bool { return !strings.HasSuffix(e.name, "3") }
	drawn, tried := sample(all, 10, sampleSeed, compiles)
	if len(drawn) != 10 || tried < 10 {
		t.Fatalf("%d mutants after %d draws, want 10", len(drawn), tried)
	}
	for i, e := range drawn {
		if !compiles(e) || i > 0 && !(slices.Index(all, drawn[i-1]) < slices.Index(all, e)) {
			t.Errorf("%s is drawn after %v: it does not compile, or the order is not that of the source", e.name, drawn[:i])
		}
	}
	fewer := slices.DeleteFunc(slices.Clone(all), func(e edit) bool { return e == drawn[4] })
	again, _ := sample(fewer, 9, sampleSeed, compiles)
	if want := slices.Delete(slices.Clone(drawn), 4, 5); !slices.Equal(again, want) {
		t.Errorf("without %s the sample is\n%v\nwant\n%v", drawn[4].name, again, want)
	}
}

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

// The searches for a mechanical mutant begin with the cheapest in all kinds, and end with the first find. An interrupted
// search goes on with the one that is missing.
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
			s := subject{edit: &edit{}, kinds: []string{"single", "redlock"}, equivalent: tc.equivalent}
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
		s := subject{edit: &edit{}, kinds: []string{"single"}}
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
	r := row{subject{name: "mechanical/a", edit: &edit{}, kinds: []string{"single"}}, result{Searches: []searched{{"single", stepQuick, 0, found{Exit: exitFound, Runs: 7, What: "overlap in mode none"}}}}, false}
	table := markdown([]row{r}, []string{"mechanical/b", "queue/c"}, limits{Starts: 1}, record{}, "")
	again := r
	again.Searches = append(slices.Clone(r.Searches), searched{"single", stepExplore, 1, found{Runs: 10_000}}, searched{"single", stepExplore, 2, found{Exit: exitFound, Runs: 1234}})
	for starts, want := range map[int]string{2: "explore, run 7, –: overlap", 3: "explore, run 7, –, 1,234: overlap"} {
		part := again
		part.Searches = part.Searches[:starts]
		table := markdown([]row{part}, nil, limits{Starts: starts}, record{}, "")
		if !strings.Contains(table, want) || !strings.Contains(table, "| 1 | 1 (100 %) | 0 | 0 | 1 | 0 |\n") || strings.Contains(table, "first seed only") {
			t.Errorf("the table of %d first seeds lacks %q:\n%s", starts, want, table)
		}
	}
	if table := markdown([]row{r}, nil, limits{Starts: 3}, record{}, ""); !strings.Contains(table, "\nMutants that were explored from the first seed only: 1.\n") {
		t.Errorf("the table does not say that two first seeds are missing:\n%s", table)
	}
	for _, want := range []string{
		"\nWithout a result yet, 2: mechanical/b, queue/c. ",
		"\n| mechanical, killed by the unit tests, but for 1 without a result | 1 | 1 (100 %) | 0 | 0 | 1 | 1 |\n",
		"| single | explore, run 7: overlap in mode none |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}
