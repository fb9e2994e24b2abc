package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/campaign"
	"locksim/internal/dev/checkout"
	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/patch"
)

// committed are the root of the module, and all subjects.
func committed(t *testing.T) (root string, all []subject) {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err = readSubjects(root, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	return root, all
}

// Each patch fits a file of package lock, and what it makes of a Go file type-checks. There
// are at least 60 that can be noticed.
func TestPatchesFitTheSource(t *testing.T) {
	root, all := committed(t)
	compile, err := mechanical.NewCompiler(t.Context(), root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	names, noticeable := map[string]string{}, 0
	for _, s := range all {
		if s.patch == nil {
			continue
		}
		text, err := s.patch.Mutated(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if filepath.Dir(s.patch.File) != "lock" {
			t.Error(s.patch.Errorf(4, "%s is no file of package lock", s.patch.File))
		}
		if err := compile.Check(s.patch.File, text); err != nil {
			t.Error(s.patch.Errorf(4, "%v", err))
		}
		if !sentence.MatchString(s.patch.Breaks) {
			t.Error(s.patch.Errorf(1, "%q is no sentence", s.patch.Breaks))
		}
		if s.equivalent != "" && !sentence.MatchString(s.equivalent) {
			t.Error(s.patch.Errorf(3, "%q is no reason", s.equivalent))
		}
		_, name, _ := strings.Cut(s.name, "/")
		if other := names[name]; other != "" || !mutantName.MatchString(s.name) {
			t.Errorf("%s: its name is odd, or taken by %s", s.patch.Path, other)
		}
		names[name] = s.patch.Path
		if s.equivalent == "" {
			noticeable++
		}
	}
	if noticeable < 60 {
		t.Errorf("%d mutants that can be noticed, want 60 at least", noticeable)
	}
}

var (
	sentence   = regexp.MustCompile(`^[A-Z].* .*\.$`)
	mutantName = regexp.MustCompile(`^[a-z]+/[a-z]+(-[a-z]+)*$`)
)

// A matrix in which scenarios are vacuous, and none is worse than expected, is no find.
func TestVacuousIsNoFind(t *testing.T) {
	for doc, want := range map[string]string{
		`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","vacuous":"no contention","seeds":2}]}`: "vacuous: calm",
		`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","vacuous":"no contention","seeds":2},
			{"scenario":"gc-pause","label":"stuck","match":"worse","seeds":2}]}`: "gc-pause: stuck",
	} {
		f, err := library(t.Context(), func(context.Context, ...string) (int, []byte, error) { return exitFound, []byte(doc), nil }, "single", 2)
		if err != nil || cell(f) != want || f.found() != strings.Contains(want, "stuck") {
			t.Errorf("the cell is %q, found: %v, %v; want %q", cell(f), f.found(), err, want)
		}
	}
}

// fakeSearch finds every mutant by exploring, and counts how often it is called.
func fakeSearch(calls *[]string) search {
	return func(ctx context.Context, s subject, r *result, _ func() error) error {
		*calls = append(*calls, s.name)
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.edit != nil {
			r.Searches = []searched{{s.kinds[0], stepQuick, 0, found{Exit: exitFound, Runs: len(s.name), What: "overlap in mode none"}}}
			return nil
		}
		for _, kind := range s.kinds {
			k := kindResult{Kind: kind, Explore: []found{{Runs: 10_000}}}
			if !s.isRight() {
				k.Explore[0] = found{Exit: exitFound, Runs: len(s.name), What: "overlap in mode none"}
			}
			r.Kinds = append(r.Kinds, k)
		}
		return nil
	}
}

// newStore opens a file of results.
func newStore(t *testing.T, file string, s store) *store {
	t.Helper()
	s.file = file
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.journal.Close(); err != nil {
			t.Error(err)
		}
	})
	return &s
}

var testLimits = limits{Runs: 10_000, Starts: 1, Seeds: 3, Placements: 100}

// The table has each mutant with each of its kinds, a link to its patch or its file, and each right lock.
func TestTableIsComplete(t *testing.T) {
	root, all := committed(t)
	f := newStore(t, filepath.Join(t.TempDir(), "results.jsonl"), store{limits: testLimits})
	var calls []string
	if err := f.fill(t.Context(), all, campaign.Shard{}, fakeSearch(&calls), io.Discard); err != nil {
		t.Fatal(err)
	}
	rows, missing, err := f.results(all)
	if err != nil || len(missing) > 0 {
		t.Fatalf("%v, missing: %v", err, missing)
	}
	table := markdown(rows, nil, testLimits, mechanical.Sample{}, "^(quorum|release)")
	if note := "Only the mutants whose names match `^(quorum|release)` are here."; !strings.Contains(table, note) || strings.Contains(markdown(rows, nil, testLimits, mechanical.Sample{}, ""), "Only the mutants") {
		t.Errorf("a part of the table does not say so, or the whole does: want %q", note)
	}
	_, body, _ := strings.Cut(table, "\n## ")
	var names, want []string
	for _, m := range regexp.MustCompile(`\n\| \[(\S+)\]\(\.\./(\S+)\) \|`).FindAllStringSubmatch(body, -1) {
		if _, err := os.Stat(filepath.Join(root, m[2])); err != nil {
			t.Errorf("the link of %s: %v", m[1], err)
		}
		names = append(names, m[1])
	}
	pairs := 0
	for _, s := range all {
		if pairs++; s.edit == nil {
			pairs += len(s.kinds) - 1
		}
		if _, name, _ := strings.Cut(s.name, "/"); !s.isRight() {
			want = append(want, name)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("the table has the mutants\n%v\nwant\n%v", names, want)
	}
	if n := strings.Count(body, "\n| ") - strings.Count(body, "\n| mutant |") - strings.Count(body, "\n| lock |"); n != pairs {
		t.Errorf("the table has %d lines, want %d: one for each mutant and kind", n, pairs)
	}
}

// The README says in numbers what the stored results say. A mutant made by hand without a result does not count yet: the
// committed table names it.
func TestReadmeHasTheNumbers(t *testing.T) {
	root, all := committed(t)
	f := newStore(t, filepath.Join(root, "internal", "dev", "reach", "results.jsonl"), store{limits: limits{Runs: 10_000, Starts: 3, Seeds: 3, Placements: 500}, earlier: true})
	rows, missing, err := f.results(all)
	if err != nil {
		t.Fatal(err)
	}
	const reportFile = "reports/REACH.md"
	report, err := os.ReadFile(filepath.Join(root, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(report), "\nWithout a result yet, ")
	line, _, _ = strings.Cut(line, ". A mistake")
	withoutResult := strings.Fields(strings.ReplaceAll(line, ",", ""))
	var byHand, byHandFound, mechanical, mechanicalFound int
	for _, u := range all {
		switch {
		case !slices.Contains(missing, u.name) || u.equivalent != "":
		case u.edit == nil:
			if !slices.Contains(withoutResult, u.name) {
				t.Errorf("%s has no result, and %s does not say so", u.name, reportFile)
			}
		default:
			mechanical++ // it counts as not found
		}
	}
	for _, r := range rows {
		number, found := &byHand, &byHandFound
		if r.edit != nil {
			number, found = &mechanical, &mechanicalFound
		}
		if r.counts() {
			*number++
			if r.found() {
				*found++
			}
		}
	}
	want := map[string]string{
		"README.md":    fmt.Sprintf("Of %d made by hand that a run can show, %d are found; of %d mechanical ones that the unit tests notice, %d.", byHand, byHandFound, mechanical, mechanicalFound),
		"README.zh.md": fmt.Sprintf("%d 个中，找到 %d 个；单元测试能发现的 %d 个机械变异中，找到 %d 个。", byHand, byHandFound, mechanical, mechanicalFound),
	}
	for name, sentence := range want {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), sentence) {
			t.Errorf("%s does not say: %s", name, sentence)
		}
	}
}

// A run that was interrupted, and shards, give the table of one whole run, and no subject
// is searched twice.
func TestResumeGivesTheSameTable(t *testing.T) {
	_, all := committed(t)
	tableOf := func(f *store) string {
		t.Helper()
		rows, missing, err := f.results(all)
		if err != nil || len(missing) > 0 {
			t.Fatalf("%v, missing: %v", err, missing)
		}
		return markdown(rows, nil, testLimits, mechanical.Sample{}, "")
	}
	whole := newStore(t, filepath.Join(t.TempDir(), "results.jsonl"), store{limits: testLimits})
	var calls []string
	if err := whole.fill(t.Context(), all, campaign.Shard{}, fakeSearch(&calls), io.Discard); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "results.jsonl")
	open := func() *store { return newStore(t, file, store{commit: "1a2b3c4", limits: testLimits}) }
	calls = nil
	ctx, interrupt := context.WithCancel(t.Context())
	fake := fakeSearch(&calls)
	err := open().fill(ctx, all, campaign.Shard{}, func(ctx context.Context, s subject, r *result, keep func() error) error {
		if len(calls) == 5 {
			interrupt()
		}
		return fake(ctx, s, r, keep)
	}, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the interrupted run: %v", err)
	}
	if _, missing, err := open().results(all); err != nil || len(missing) != len(all)-5 {
		t.Fatalf("%v, %d of %d are missing after 5", err, len(missing), len(all))
	}
	calls = nil
	for i := range 3 {
		if err := open().fill(t.Context(), all, campaign.Shard{Index: i, Count: 3}, fake, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if len(calls) != len(all)-5 {
		t.Errorf("%d searches after the interruption, want %d", len(calls), len(all)-5)
	}
	if tableOf(open()) != tableOf(whole) {
		t.Error("the table of the parts differs from that of the whole")
	}

	// A result with more first seeds gives the table with fewer. With fewer, it is completed.
	calls = nil
	more := newStore(t, file, store{limits: limits{Runs: 10_000, Starts: 2, Seeds: 3, Placements: 100}})
	byHand := slices.IndexFunc(all, func(s subject) bool { return s.patch != nil && s.counts() && len(s.kinds) == 1 })
	if err := more.fill(t.Context(), all[byHand:byHand+1], campaign.Shard{}, func(_ context.Context, s subject, r *result, _ func() error) error {
		if got := len(r.Kinds[0].Explore); got != 1 {
			t.Errorf("%s: the result has %d explorations, want the one from before", s.name, got)
		}
		r.Kinds[0].Explore = append(r.Kinds[0].Explore, found{Runs: 10_000})
		return nil
	}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if tableOf(open()) != tableOf(whole) {
		t.Error("the table with one first seed differs after an exploration from a second one")
	}
	if r, ok, err := more.read(all[byHand]); err != nil || !ok || len(r.Kinds[0].Explore) != 2 {
		t.Errorf("the completed result is %+v, %v, %v", r, ok, err)
	}

	// That of a mechanical mutant counts already, and gets the exploration that it lacks.
	drawn := slices.IndexFunc(all, func(s subject) bool { return s.edit != nil && s.counts() })
	if r, ok, err := more.read(all[drawn]); err != nil || !ok || len(r.Searches) != 1 {
		t.Errorf("with another first seed the result is %+v, %v, %v", r, ok, err)
	}
	if err := more.fill(t.Context(), all[drawn:drawn+1], campaign.Shard{}, func(_ context.Context, s subject, r *result, _ func() error) error {
		r.Searches = append(r.Searches, searched{s.kinds[0], stepExplore, 1, found{Runs: 10_000}})
		return nil
	}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if r, _, err := more.read(all[drawn]); err != nil || len(r.Searches) != 2 || tableOf(open()) != tableOf(whole) {
		t.Errorf("the completed result is %+v, %v, or the table with one first seed differs", r, err)
	}

	// A result of another program, or with other limits, does not count.
	for _, other := range []store{{limits: limits{Runs: 1}}, {program: "other", limits: testLimits}} {
		if _, missing, err := newStore(t, file, other).results(all); err != nil || len(missing) != len(all) {
			t.Errorf("%v, %d of %d are missing with %+v", err, len(missing), len(all), other)
		}
	}
	// Unless the results of earlier programs are kept: the table says so, and names each by a commit without changes.
	rows, missing, err := newStore(t, file, store{program: "other", earlier: true, limits: testLimits}).results(all)
	rows[0].Commit, rows[1].Commit, rows[1].Program = "1a2b3c4-dirty", "5d6e7f8-dirty", "another"
	note := fmt.Sprintf("\n%[1]d of the results are those of earlier locksims: %d of commit 1a2b3c4, 1 of commit 5d6e7f8-dirty.\n", len(all), len(all)-1)
	if table := markdown(rows, nil, testLimits, mechanical.Sample{}, ""); err != nil || len(missing) > 0 || !strings.Contains(table, note) || strings.Contains(tableOf(open()), "earlier") {
		t.Errorf("%v, %d are missing, or the table does not say %q", err, len(missing), note)
	}

	// The file has a line for each subject when it has been sorted, and the same results.
	table := tableOf(open())
	if err := open().sort(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if lines := strings.Count(string(text), "\n"); err != nil || lines != len(all) || tableOf(open()) != table {
		t.Errorf("%v, the sorted file has %d lines, want %d, or another table", err, lines, len(all))
	}

	// The result of a line that is cut off is missing, and nothing else is.
	if err := os.WriteFile(file, text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, missing, err := open().results(all); err != nil || len(missing) != 1 {
		t.Errorf("after a line that is cut off %v are missing: %v", missing, err)
	}

	// What has no result is named.
	if table := markdown(rows[1:], []string{rows[0].name}, testLimits, mechanical.Sample{}, ""); !strings.Contains(table, "\nWithout a result yet, 1: "+rows[0].name+". A mistake") {
		t.Errorf("the table does not say that %s is missing", rows[0].name)
	}
}

// What locksim prints and its exit codes become the cells of the table; a command that
// could not be judged is no find.
func TestMeasure(t *testing.T) {
	var asked []string
	fake := func(_ context.Context, args ...string) (int, []byte, error) {
		asked = append(asked, strings.Join(args, " "))
		switch {
		case args[0] == "matrix":
			return exitFound, []byte(`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","seeds":2},
				{"scenario":"gc-pause","label":"overlap","match":"worse","seeds":2}]}`), nil
		case args[0] == "sweep":
			return 0, []byte(`{"plan":{"placements":250},"summary":{"runs":100,"failures":[]}}`), nil
		case strings.Contains(asked[len(asked)-1], "--from-seed 1000001"):
			return exitFound, []byte(`{"summary":{"runs":100,"failures":[{"first_seed":1000041,"violations":[{"mode":"none","label":"stuck"}]}]}}`), nil
		case strings.Contains(asked[len(asked)-1], "--from-seed 2000001"): // a violation without any fault
			return exitFound, []byte(`{"summary":{"runs":8,"failures":[{"first_seed":4,"violations":[{"mode":"none","label":"stuck"}]}]}}`), nil
		}
		return exitBroken, nil, nil
	}
	var r result
	mutant := subject{kinds: []string{"single"}, patch: &patch.Patch{}}
	if err := measure(t.Context(), fake, mutant, "sweep.yaml", limits{Runs: 500, Starts: 3, Seeds: 2, Placements: 100}, &r); err != nil {
		t.Fatal(err)
	}
	k := r.Kinds[0]
	if got, want := cells(k), "single | gc-pause: overlap | – | exit 3, 41, 4"; got != want {
		t.Errorf("the cells are %q, want %q", got, want)
	}
	if r.explored(3) || !r.explored(2) || !k.found() {
		t.Errorf("found from three first seeds: %v, from two: %v, at all: %v; want false, true and true", r.explored(3), r.explored(2), k.found())
	}
	want := []string{
		"matrix --lock single --seeds 2",
		"sweep sweep.yaml --lock single --promise --shard 0/100000",
		"sweep sweep.yaml --lock single --promise --shard 0/3",
		"explore --lock single --promise --runs 500 --from-seed 1",
		"explore --lock single --promise --runs 500 --from-seed 1000001",
		"explore --lock single --promise --runs 500 --from-seed 2000001",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

// The table counts the runs of each search once, also those with which a mechanical exploration began.
func TestRunsOf(t *testing.T) {
	byHand := row{result: result{Kinds: []kindResult{{Library: found{Runs: 1}, Sweep: found{Runs: 20}, Explore: []found{{Runs: 300}, {Runs: 400}}}}}}
	mechanical := row{result: result{Searches: []searched{{Search: stepQuick, found: found{Runs: quickRuns}}, {Search: stepOneSeed, found: found{Runs: 2}},
		{Search: stepLibrary, found: found{Runs: 3}}, {Search: stepSweep, found: found{Runs: 30}}, {Search: stepExplore, found: found{Runs: 10_000}},
		{Search: stepExplore, Start: 1, found: found{Runs: 5000}}}}}
	if library, sweeps, explorations := runsOf([]row{byHand, mechanical}); library != 6 || sweeps != 50 || explorations != 15_700 {
		t.Errorf("%d runs of the library, %d of sweeps, %d of explorations; want 6, 50 and 15,700", library, sweeps, explorations)
	}
}

// A lock that panics, or that fails without faults, is found; another error is no find.
func TestWhatAMessageSays(t *testing.T) {
	for message, want := range map[string]found{
		"3 locksim: scenario calm, seed 1: c0 panicked: index out of range":                                                                                                                              {Exit: exitPanicked},
		"2 locksim: lock single, in a run without faults: c0 panicked: index out of range":                                                                                                               {Exit: exitPanicked},
		"2 locksim: lock single, in a run without faults: no client was granted it":                                                                                                                      {Exit: exitFails},
		"3 locksim: lock single, in a run without faults: it did not end":                                                                                                                                {Exit: exitBroken},
		"3 locksim: scenario calm, seed 1: a client waits forever":                                                                                                                                       {Exit: exitBroken},
		"2 locksim: --runs: 0 is out of range":                                                                                                                                                           {Exit: exitRefused},
		"2 locksim: lock redlock, in a run without faults: scenario calm, seed 1: the lock of c0 cannot be made: no Redis client for r0":                                                                 {Exit: exitFails},
		"2 locksim: lock redlock, in a run without faults: scenario calm, seed 1: the run is frozen: no event for 10s of wall-clock time":                                                                {Exit: exitRefused},
		"2 fatal error: sync: unlock of unlocked mutex\n\ngoroutine 14 [running]:\nlocksim/lock.(*lease).Release":                                                                                        {Exit: exitPanicked},
		"3 locksim: 1 jobs failed; job 0: seeds 1 to 100: the worker process ended\nit wrote:\npanic: nil map\n[signal]\n\ngoroutine 9 [running]:\nmaps.Clone\n\t/x.go:1\nlocksim/lock.(*lease).Release": {Exit: exitPanicked},
		"2 panic: nil map\n\ngoroutine 9 [running]:\nlocksim/sim.(*World).Run\n\ngoroutine 1 [select]:\nlocksim/lock.(*lease).Release":                                                                   {Exit: exitRefused},
		"2 locksim: lock single, in a run without faults: scenario calm, seed 1: the run reached its limit of events (2000000)":                                                                          {Exit: exitFails},
		"2 locksim: lock single, in a run without faults: no client had a key that its Keys name":                                                                                                        {Exit: exitFails},
		"2 fatal error: all goroutines are asleep\n\ngoroutine 14 [running]:\nlocksim/sim.(*World).Run":                                                                                                  {Exit: exitRefused},
	} {
		file := filepath.Join(t.TempDir(), "locksim")
		code, text, _ := strings.Cut(message, " ")
		if err := os.WriteFile(file, []byte("#!/bin/sh\necho '"+text+"' >&2\nexit "+code+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := explore(t.Context(), program(file, "", machine{workers: 1}, io.Discard), "single", 1, 500)
		if err != nil || f != want || f.found() != (want.Exit >= exitPanicked) {
			t.Errorf("%s: %+v, found: %v, %v", message, f, f.found(), err)
		}
	}
}

// The results of one source can be told from those of another.
func TestIdentify(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	source, err := sources(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"lock/single.go", "lock/release.lua", "sim/run.go", "internal/dev/reach/locksim/main.go"} {
		if !slices.Contains(source, filepath.Join(root, filepath.FromSlash(file))) {
			t.Errorf("%s is no source of the command", file)
		}
	}
	scenario := filepath.Join(t.TempDir(), "sweep.yaml")
	var ids []string
	for _, text := range []string{"name: a\n", "name: a\n", "name: b\n"} {
		if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := identify(t.Context(), root, scenario)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("two equal sources and another one have the identities %q", ids)
	}
}
