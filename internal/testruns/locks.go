package testruns

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// MeetExpectations plays the scenarios of the library with the locks that they name, each in its modes: the worst of
// the seeds 1 to 20 is the expected label. Each run is played twice. Without LOCKSIM_SOAK=1 it does nothing: the test
// of package library plays one seed of all locks.
func MeetExpectations(t *testing.T, locks []subject.Lock) {
	OnlyWhole(t)
	for _, p := range Pairs(t, locks) {
		t.Run(p.Scenario.Name+" "+p.Lock.Name, func(t *testing.T) { meets(t, p.Scenario, p.Lock) })
	}
}

// meets plays a scenario with a lock, and compares its labels with the expected ones.
func meets(t *testing.T, sc *file.Scenario, l subject.Lock) {
	t.Helper()
	worst := map[fence.Mode]checker.Label{}
	options := play.RunOptions{Modes: slices.Sorted(maps.Keys(sc.Expect[l.Name])), Repeat: outcome.Twice}
	for options.Seed = 1; options.Seed <= 20; options.Seed++ {
		o, err := play.Run(sc, l, options)
		if err != nil {
			t.Fatalf("seed %d: %v", options.Seed, err)
		}
		for _, m := range o.Modes {
			got := m.Verdict.Label
			worst[m.Mode] = checker.Worse(worst[m.Mode], got)
			if got.Severity() > sc.Expect[l.Name][m.Mode].Severity() {
				t.Errorf("seed %d, %s: %s: %s", options.Seed, m.Mode, got, m.Verdict.Reasons[0].Text)
			}
		}
	}
	for mode, label := range sc.Expect[l.Name] {
		if worst[mode] != label {
			t.Errorf("%s: the worst is %s, want %s", mode, worst[mode], label)
		}
	}
}

// EqualInFreshProcesses plays seeds of pairs of a scenario and a lock in fresh processes at other numbers of
// processors, one for each of procs, and compares the hashes of the traces. It is all that the test of its name does,
// since the processes run only that. before is called in each process before each run, with the number of the process.
func EqualInFreshProcesses(t *testing.T, seeds int, procs []string, pairs func() []Pair,
	before func(process int, seed uint64)) {
	const asChild = "LOCKSIM_HASHES"
	if process := os.Getenv(asChild); process != "" {
		printHashes(t, seeds, pairs(), func(seed uint64) { before(slices.Index(procs, process), seed) })
		return
	}
	var first []string
	for i, n := range procs {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.timeout=4h")
		cmd.Env = append(os.Environ(), asChild+"="+n, "GOMAXPROCS="+n)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("GOMAXPROCS=%s: %v\n%s", n, err, out)
		}
		lines := slices.DeleteFunc(strings.Split(string(out), "\n"),
			func(line string) bool { return !strings.HasPrefix(line, "run ") })
		if i == 0 {
			first = lines
			t.Logf("%d runs", len(lines))
			continue
		}
		for j := range min(len(first), len(lines)) {
			if first[j] != lines[j] {
				t.Errorf("GOMAXPROCS=%s: %s, at %s it is %s", n, lines[j], procs[0], first[j])
			}
		}
		if len(first) != len(lines) {
			t.Fatalf("GOMAXPROCS=%s: %d runs, at %s there are %d", n, len(lines), procs[0], len(first))
		}
	}
	if len(first) < 20 {
		t.Errorf("only %d runs", len(first))
	}
}

// Pair is a scenario with a lock.
type Pair struct {
	Scenario *file.Scenario
	Lock     subject.Lock
}

// printHashes prints a line for each run: scenario, lock, seed and the hash of the trace.
func printHashes(t *testing.T, seeds int, pairs []Pair, before func(seed uint64)) {
	for _, p := range pairs {
		for seed := uint64(1); seed <= uint64(seeds); seed++ {
			before(seed)
			o, err := play.Run(p.Scenario, p.Lock, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true})
			if err != nil {
				t.Fatalf("%s, %s, seed %d: %v", p.Scenario.Name, p.Lock.Name, seed, err)
			}
			fmt.Println("run", p.Scenario.Name, p.Lock.Name, seed, o.Modes[0].TraceHash)
		}
	}
}

// Pairs are the scenarios of the library with each of these locks that they name.
func Pairs(t *testing.T, locks []subject.Lock) (all []Pair) {
	t.Helper()
	library, err := redislocks.Library(locks)
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range library {
		for _, l := range locks {
			if slices.Contains(sc.LockNames(), l.Name) {
				all = append(all, Pair{sc, l})
			}
		}
	}
	return all
}

// EqualRuns is EqualInFreshProcesses with all pairs of these locks at three numbers of processors. For few seeds it has
// each scenario and each lock once, at two numbers. LOCKSIM_SOAK=10 is 300 seeds.
func EqualRuns(t *testing.T, locks []subject.Lock) {
	procs, seeds, pairs := []string{"2", "1", "4"}, Soak(t, 30, 0.04), Pairs
	if seeds <= 5 {
		procs, pairs = procs[:2], eachOnce
	}
	EqualInFreshProcesses(t, seeds, procs, func() []Pair { return pairs(t, locks) }, func(int, uint64) {})
}

// eachOnce are those pairs of [Pairs] that have a scenario or a lock that no pair before them has.
func eachOnce(t *testing.T, locks []subject.Lock) (some []Pair) {
	t.Helper()
	had := map[string]bool{}
	for _, p := range Pairs(t, locks) {
		scenario, l := "scenario "+p.Scenario.Name, "lock "+p.Lock.Name
		if !had[scenario] || !had[l] {
			some = append(some, p)
		}
		had[scenario], had[l] = true, true
	}
	return some
}

// KnownElsewhere tests that the library names the locks of a package, and knows whether they mint tokens, also in a
// program without them.
func KnownElsewhere(t *testing.T, locks []subject.Lock, path string) {
	t.Helper()
	for _, l := range locks {
		if in, ok := kinds.Package(l.Name); !ok || in != path {
			t.Errorf("%s is in package %q", l.Name, in)
		}
		if kinds.RunsIn(l.Name, true) != l.Tokens || !kinds.RunsIn(l.Name, false) {
			t.Errorf("%s mints tokens: %v", l.Name, l.Tokens)
		}
	}
	without, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := redislocks.Library(locks)
	if err != nil {
		t.Fatal(err)
	}
	if len(without) == 0 || len(with) <= len(without) {
		t.Errorf("%d scenarios with these locks, %d without", len(with), len(without))
	}
	for _, sc := range without {
		if !slices.ContainsFunc(sc.LockNames(), func(name string) bool {
			_, elsewhere := kinds.Package(name)
			return !elsewhere
		}) {
			t.Errorf("%s names only locks of packages that the program does not have", sc.Name)
		}
	}
	want := fmt.Sprintf("there is no lock %q in this program: package %s has it, for app.Main", locks[0].Name, path)
	if _, err := redislocks.Find(locks[0].Name, nil); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
