package scenarios_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/replay"
	"locksim/scenarios/spaces"
)

// quick are the options of a check of thirty runs, always the same ones. A check makes a multiple of -rapid.checks.
func quick(t *testing.T) scenarios.Options {
	t.Helper()
	const checks = "rapid.checks"
	before := flag.Lookup(checks).Value.String()
	t.Cleanup(func() { _ = flag.Set(checks, before) })
	if err := flag.Set(checks, "30"); err != nil {
		t.Fatal(err)
	}
	return scenarios.Options{Seed: 5, Runs: 100, Dir: filepath.Join(t.TempDir(), "locksim")}
}

// wantPass fails the test unless the check passed.
func wantPass(t *testing.T, j *witness) {
	t.Helper()
	if j.failed {
		t.Fatalf("the check fails:\n%s", j.said())
	}
}

// wants checks that a text has a line, or a part of one, for each pattern.
func wants(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(`(?m)` + p).MatchString(text) {
			t.Errorf("nothing matches %q in:\n%s", p, text)
		}
	}
}

// A lock that keeps its promise passes, and the log gives the bound on the rate of violations.
func TestCheckPasses(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	opts := quick(t)
	j := checked(t, "TestTheirs", testlocks.Correct("theirs"), opts)
	wantPass(t, j)
	wants(t, j.said(), `^theirs: no violation in \d+ runs. \d+ of them really tested the lock \(two clients wanted it, and a fault was felt\); with 95 % confidence fewer than [\d.]+ % of such runs break it \(faults drawn: .*pause \d`,
		`^not asked: .*; whether a waiter that gives up says why; `,
		`^not seen yet: about [\d.]+ % of further runs that test the lock would still try something new \(\d+ of \d+ courses were seen in one run only\); more runs would show `)
	if _, err := os.Stat(opts.Dir); !os.IsNotExist(err) {
		t.Errorf("a check without a failure created %s: %v", opts.Dir, err)
	}
}

// The log says which keys of a lock were learnt, if it does not name them.
func TestCheckSaysWhichKeysWereLearnt(t *testing.T) {
	l := testlocks.Correct("theirs")
	j := checked(t, "TestTheirs", l, quick(t))
	if wantPass(t, j); strings.Contains(j.said(), "learnt") {
		t.Errorf("its keys are named, and the log says:\n%s", j.said())
	}
	l.Keys = nil
	j = checked(t, "TestTheirs", l, quick(t))
	wantPass(t, j)
	wants(t, j.said(), `^the lock’s key was learnt: lock:\{order\}$`)
}

// A lock whose pauses double is not blamed for them, whatever they were at first: it asks again before it has waited
// for twice as long. One that lets a free lock wait for longer is stuck.
func TestCheckLearnsHowPausesGrow(t *testing.T) {
	opts := quick(t)
	opts.Runs = testruns.Soak(t, 300, 0.34)
	wantPass(t, checked(t, "TestTheirs", testlocks.Patient("theirs", 2), opts))
	opts.Runs = 300
	j := checked(t, "TestTheirs", testlocks.Patient("theirs", 6), opts)
	if !j.failed {
		t.Fatalf("pauses that grow sixfold pass:\n%s", j.said())
	}
	wants(t, j.said(), "theirs fails: stuck")
}

// A lock that breaks its promise fails the test: the seed first, then why, the
// story and the schedule, and the command that replays it last. The failure is
// stored as a run that can be replayed.
func TestCheckFinds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	opts := quick(t)
	l := testlocks.NoOwnerCheck("theirs")
	j := checked(t, "TestTheirs/over one (node)", l, opts)
	if len(j.errors) != 1 {
		t.Fatalf("%d errors:\n%s", len(j.errors), j.said())
	}
	wants(t, j.said(), `^page: set Options\.Page, to func\(w io\.Writer, o \*scenarios\.Outcome, replay string\) error \{`)
	wants(t, j.errors[0], `\Aseed \d+: theirs fails: overlap in mode claim`, `^  c\d was granted order at step \d+`,
		`^story in mode claim:$`, `^ +\d+ +[\d.]+m?s  c\d +is granted order`,
		`^schedule, \d faults? of the \d that were drawn:$`,
		`^  name: drawn$`, `^stored in .*theirs-overlap-.*json`,
		`^step by step: let locksim init write the folder locksimtest/sim, .*where go\.mod is:\n  go run \./locksimtest/sim replay .*theirs-overlap-.*json --timeline$`, `replay: go test -count=1 -run '\^TestTheirs\$/\^over one \\\(node\\\)\$'\z`)
	files, err := filepath.Glob(filepath.Join(opts.Dir, "*"))
	if err != nil || len(files) != 2 || files[1] != records.Beside(files[0]) {
		t.Fatalf("%v, %v", files, err)
	}
	judgedAsStored(t, files[1])
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := outcome.ReadRunFile(files[0], data)
	if err != nil {
		t.Fatal(err)
	}
	o, err := replay.Run(f, []scenarios.Lock{l}, scenarios.Twice)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Scenario.Faults) > 2 || o.Scenario.World.Clients > 2 {
		t.Errorf("%d faults and %d clients are left", len(o.Scenario.Faults), o.Scenario.World.Clients)
	}
}

// Stored failures are tried before new schedules. One that no longer fails is
// reported once, and is tried silently after that.
func TestCheckTriesStoredFailuresFirst(t *testing.T) {
	opts := quick(t)
	first := checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts)
	again := checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts)
	wants(t, again.said(), `^stored failure .*theirs-(overlap|stuck)`, `^schedule, as it is stored:$`, `^replay: go test`)
	if len(first.errors) != 1 || len(again.errors) != 1 || len(again.logs) != 0 {
		t.Fatalf("first:\n%s\nagain:\n%s", first.said(), again.said())
	}
	repaired := checked(t, "TestTheirs", testlocks.Correct("theirs"), opts)
	wantPass(t, repaired)
	wants(t, repaired.said(), `^.*theirs-(overlap|stuck)-.* no longer fails \(it was \S+\): moved to .*fixed`)
	silent := checked(t, "TestTheirs", testlocks.Correct("theirs"), opts)
	wantPass(t, silent)
	if len(silent.logs) != 1 {
		t.Errorf("a fixed failure is reported again:\n%s", silent.said())
	}
	relapsed := checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts)
	wants(t, relapsed.said(), `^stored failure .*fixed.*, which had been fixed, fails again$`)
	back, err := filepath.Glob(filepath.Join(opts.Dir, "*.json"))
	if err != nil || len(back) != 1 {
		t.Errorf("not moved back: %v, %v", back, err)
	}
}

// A failure that is stored for another lock, or was judged in another mode, stays.
func TestCheckLeavesTheFailuresOfOthers(t *testing.T) {
	opts := quick(t)
	checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts)
	before, err := filepath.Glob(filepath.Join(opts.Dir, "*.json"))
	if err != nil || len(before) != 1 {
		t.Fatalf("%v, %v", before, err)
	}
	wantPass(t, checked(t, "TestOthers", testlocks.Correct("others"), opts))
	otherwise := testlocks.Correct("theirs")
	otherwise.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultSlow}, Data: "cas"}
	j := checked(t, "TestTheirs", otherwise, opts)
	wantPass(t, j)
	wants(t, j.said(), `is not tried: the lock is judged in mode cas here`)
	after, err := filepath.Glob(filepath.Join(opts.Dir, "*.json"))
	if err != nil || len(after) != 1 {
		t.Errorf("%v, %v", after, err)
	}
}

// Two tests of the same lock store what they find in files of their own. Each tries
// its own, and those that no test has found, such as one that a command has made.
func TestCheckLeavesTheFailuresOfOtherTests(t *testing.T) {
	opts := quick(t)
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(opts.Dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts)
	found := files()
	if len(found) != 1 {
		t.Fatalf("stored: %v", found)
	}
	repaired := checked(t, "TestSameName", testlocks.Correct("theirs"), opts)
	wantPass(t, repaired)
	wants(t, repaired.said(), `theirs-.*json is not tried: TestTheirs found it`)
	checked(t, "TestSameName", testlocks.NoOwnerCheck("theirs"), opts)
	if n := len(files()); n != 2 {
		t.Fatalf("%d files of two tests", n)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := outcome.ReadRunFile(found[0], data)
	if err != nil {
		t.Fatal(err)
	}
	if f.Test != "TestTheirs" {
		t.Errorf("test %q is stored", f.Test)
	}
	f.Test = ""
	if data, err = f.JSON(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	wants(t, checked(t, "TestAnother", testlocks.NoOwnerCheck("theirs"), opts).said(), `^stored failure `+
		regexp.QuoteMeta(found[0]))
}

// A lock that promises nothing is judged for everything: the failure says so, unless
// the lock fails without any fault, and so whatever it promises.
func TestCheckAsksForAPromise(t *testing.T) {
	asks := `theirs has no Promise, so it is judged for everything, also for right data in mode none(?s:.*)Promise: lock\.LeasePromise\(\)(?s:.*)^  .*Promise: lock\.Promise\{Exclusion: .*$`
	without := testlocks.Correct("theirs")
	without.Promise = lock.Promise{}
	opts := quick(t)
	opts.Runs = 200
	for range 2 { // the second time the failure is a stored one
		wants(t, checked(t, "TestTheirs", without, opts).said(), asks)
	}
	excludesNobody := testlocks.Fakes()[0].Lock
	excludesNobody.Promise = lock.Promise{}
	for name, l := range map[string]scenarios.Lock{"it has one": testlocks.NoOwnerCheck("theirs"),
		"it fails without faults": excludesNobody} {
		t.Run(name, func(t *testing.T) {
			j := checked(t, "TestTheirs", l, quick(t))
			if !j.failed || strings.Contains(j.said(), "has no Promise") {
				t.Error(j.said())
			}
		})
	}
}

// The page of a failure is written beside it, also when a stored failure fails again,
// and goes with it when it is fixed. Without Options.Page the message says how to ask
// for it.
func TestCheckWritesThePage(t *testing.T) {
	opts := quick(t)
	broken := testlocks.NoOwnerCheck("theirs")
	opts.Page = func(w io.Writer, o *scenarios.Outcome, replay string) error {
		_, err := fmt.Fprintf(w, "%s %s\n%s\n%s", o.Lock, o.Modes[0].Verdict.Label, replay, o.Cause.Says)
		return err
	}
	opts.Markdown = func(w io.Writer, o *scenarios.Outcome, replay string) error {
		_, err := fmt.Fprintf(w, "%s in Markdown: %s", o.Lock, replay)
		return err
	}
	said := checked(t, "TestTheirs", broken, opts).said()
	page := regexp.MustCompile(`(?m)^page: (.*locksim/theirs-.*\.html)$`).FindStringSubmatch(said)
	if page == nil {
		t.Fatal(said)
	}
	text, err := os.ReadFile(page[1])
	if err != nil {
		t.Fatal(err)
	}
	wants(t, string(text), `^theirs corrupted$`, `^go test -count=1 -run '\^TestTheirs\$'$`, `continuation`)
	if text, err := os.ReadFile(strings.TrimSuffix(page[1], "html") + "md"); err != nil ||
		string(text) != "theirs in Markdown: go test -count=1 -run '^TestTheirs$'" {
		t.Errorf("Markdown: %q, %v", text, err)
	}
	checked(t, "TestTheirs", broken, opts) // tries the stored one
	if again, err := os.ReadFile(page[1]); err != nil || string(again) != string(text) {
		t.Errorf("the page of the stored failure is another one, %q, before %q: %v", again, text, err)
	}
	wantPass(t, checked(t, "TestTheirs", testlocks.Correct("theirs"), opts))
	for _, beside := range []string{".html", ".md", records.Suffix} {
		if moved, err := filepath.Glob(filepath.Join(opts.Dir, "fixed", "theirs-*"+beside)); err != nil || len(moved) != 1 {
			t.Errorf("%s was not moved: %v, %v", beside, moved, err)
		}
	}
	opts = quick(t)
	opts.Page = func(io.Writer, *scenarios.Outcome, string) error { return errors.New("no ink") }
	opts.Markdown = opts.Page
	wants(t, checked(t, "TestTheirs", broken, opts).said(), `^page: it cannot be written: no ink$`,
		`^Markdown: it cannot be written: no ink$`, `^stored in `)
	if left, err := filepath.Glob(filepath.Join(opts.Dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("the folder has %v: %v", left, err)
	}
}

// judgedAsStored fails if a judge does not say of a record what is stored with it.
func judgedAsStored(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	runs, err := records.Read(name, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		verdicts, err := r.Judge()
		if err != nil || len(verdicts) == 0 {
			t.Errorf("%+v, %v", verdicts, err)
		}
		for _, v := range verdicts {
			if !v.Equal() {
				t.Errorf("%+v", v)
			}
		}
	}
}

// A file that is no stored failure ends the test with the position of the fault in it.
func TestCheckRefusesADamagedFile(t *testing.T) {
	opts := quick(t)
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(opts.Dir, "a.json"), []byte(`{"version": 1,`), 0o644); err != nil {
		t.Fatal(err)
	}
	j := checked(t, "TestTheirs", testlocks.Correct("theirs"), opts)
	wants(t, j.said(), `a\.json:1:\d+: this stored run is cut off`)
	if len(j.errors) != 1 || len(j.logs) != 0 {
		t.Errorf("the check went on:\n%s", j.said())
	}
}

// A lock of which too many runs differ is reported as such, with the first event that differs. If one of the plays
// breaks its promise, that is the failure, and the first line says how often it does.
func TestCheckReportsNondeterminism(t *testing.T) {
	for name, c := range map[string]struct {
		lock  scenarios.Lock
		wants []string
	}{
		"keeps its promise": {testlocks.UnseededBackoff("theirs"), []string{
			`\Atheirs: 1 of 30 runs came out differently when played again, where at most 0 may: the first is that with seed \d+$`}},
		"breaks it": {testlocks.UnseededNoOwnerCheck("theirs"), []string{
			`\Aseed \d+: theirs fails in \d+ of 1[01] plays: `, `^NOT DETERMINISTIC: the run replays \d times? of 1[01]`,
			`e\.Source or e\.Entropy, and take its time from e\.Clock`, `replay: go test -count=1 -run '\^TestTheirs\$'`}},
	} {
		t.Run(name, func(t *testing.T) {
			j := checked(t, "TestTheirs", c.lock, quick(t))
			if len(j.errors) != 1 {
				t.Fatal(j.said())
			}
			wants(t, j.errors[0], append(c.wants, `^first divergent event: number \d+$`, `one run: +.*c\d`,
				`locksim overlay`)...)
		})
	}
}

// A run that differs from nine others is one run, which counts for nothing, and the line of the pass says so. A
// difference in a lock that comes with locksim fails the test.
func TestCheckBearsASingleDifference(t *testing.T) {
	opts := quick(t)
	opts.Runs = 500 // 150 with so many checks
	j := checked(t, "TestTheirs", testlocks.DiffersInSecondRun(t, "theirs", 20), opts)
	wantPass(t, j)
	wants(t, j.said(), `no violation in 149 runs\.`,
		`^1 run came out differently when played again, and counts for nothing: the first is that with seed 20 \(from event \d+ on, .* in one and .* in the other\)$`)

	j = checked(t, "TestOurs", testlocks.DiffersInSecondRun(t, "single", 20), opts)
	wants(t, j.said(), `^seed 20: single is not deterministic`, `^NOT DETERMINISTIC: the run replays 10 times of 11$`,
		`^first divergent event`,
		`, with Options\{Seed: 20\}$`)
}

// A violation in one play of a run that comes out differently is a failure, and stored with the trace of that play.
func TestCheckStoresTheTraceOfARarePlay(t *testing.T) {
	opts := quick(t)
	opts.Runs = 500
	j := checked(t, "TestTheirs", testlocks.BreaksInPlay(t, "theirs", 20, 5), opts)
	wants(t, j.said(), `^seed 20: theirs fails in 1 of 11 plays: `)
	stored, err := filepath.Glob(filepath.Join(opts.Dir, "*.json"))
	if err != nil || len(stored) != 1 {
		t.Fatalf("%d files, %v\n%s", len(stored), err, j.said())
	}
	text, err := os.ReadFile(stored[0])
	if err != nil {
		t.Fatal(err)
	}
	run, err := outcome.ReadRunFile(stored[0], text)
	if err != nil {
		t.Fatal(err)
	}
	for mode, m := range run.Modes {
		if m.Verdict.Clean() {
			t.Errorf("the stored play ended %s in mode %s", m.Verdict, mode)
		}
	}
}

// A failure in nine repetitions of ten is reported with these numbers, and is
// shrunk too.
func TestCheckReportsAFlakyFailure(t *testing.T) {
	opts := quick(t)
	opts.Runs = 500
	j := checked(t, "TestTheirs", testlocks.NoOwnerCheckUsually("theirs"), opts)
	wants(t, j.said(), `^NOT DETERMINISTIC: the run replays 9 times of 10, and breaks the promise 9 times of 10$`,
		`^first divergent event: number \d+$`,
		`^schedule, \d faults? of the \d that were drawn:$`)
}

// A lock that keeps its lease outside the servers has no verdict, and the message says
// what to do. It is not stored as a failure of the lock.
func TestCheckNamesALeaseOutsideTheServers(t *testing.T) {
	opts := quick(t)
	opts.Faults = []lock.Fault{lock.FaultCrash}
	j := checked(t, "TestTheirs",
		testlocks.InVariable("theirs", func(_ scenarios.Env, l lock.Locker) lock.Locker { return l }), opts)
	wants(t, j.said(), `^seed \d+: a run of theirs has no verdict: .*the lock keeps its lease outside the servers: .* make all state of the lock in New`, `^schedule, as it was drawn:$`)
	if _, err := os.Stat(opts.Dir); len(j.errors) != 1 || !os.IsNotExist(err) {
		t.Errorf("%v\n%s", err, j.said())
	}
}

// A pass that is no evidence fails the test.
func TestCheckRefusesAWorthlessPass(t *testing.T) {
	opts := quick(t)
	opts.Space.Clients = spaces.Span{Min: 1, Max: 1}
	j := checked(t, "TestTheirs", testlocks.Correct("theirs"), opts)
	wants(t, j.said(), `^These runs do not test the lock`, `why runs did not test it: one client alone held the lock \d+`)
	if len(j.errors) != 1 {
		t.Error(j.said())
	}
}

// Options of which no run can be made are refused at once.
func TestCheckRefusesNonsense(t *testing.T) {
	for name, c := range map[string]struct {
		l    scenarios.Lock
		opts scenarios.Options
		want string
	}{
		"runs": {testlocks.Correct("theirs"), scenarios.Options{Runs: -1},
			`Options\.Runs is -1: give 0 for the default of 2000`},
		"faults twice": {testlocks.Correct("theirs"), scenarios.Options{Faults: []lock.Fault{},
			Space: scenarios.Space{Faults: []lock.Fault{}}}, `both set: leave one`},
		"unpromised": {testlocks.Correct("theirs"), scenarios.Options{Faults: []lock.Fault{lock.FaultFailover}},
			`does not cover the fault failover: choose from pause`},
		"no such": {testlocks.Correct("theirs"), scenarios.Options{Space: scenarios.Space{Faults: []lock.Fault{"rain"}}},
			`no class "rain"`},
		"no name":   {testlocks.Correct(""), scenarios.Options{}, `has no Name`},
		"two words": {testlocks.Correct("my lock"), scenarios.Options{}, `lock "my lock": make its Name one word`},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Dir = t.TempDir()
			j := checked(t, "TestTheirs", c.l, c.opts)
			wants(t, j.said(), c.want)
			if len(j.errors) != 1 || len(j.logs) != 0 {
				t.Error(j.said())
			}
		})
	}
}

// A failure that cannot be stored is reported too.
func TestCheckReportsWhatItCannotStore(t *testing.T) {
	opts := quick(t)
	if err := os.WriteFile(opts.Dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wants(t, checked(t, "TestTheirs", testlocks.NoOwnerCheck("theirs"), opts).said(), `^seed \d+: theirs fails`,
		`^store the failure: `)
}
