// Package library_test imports the packages of all locks that come with locksim, those with servers of their own too.
package library_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

// Each scenario is played with each lock in each mode for which it has an expectation, with seed 1, and ends no worse.
// That the worst of seeds 1 to 20 is the expected one, reports/MATRIX.md shows.
func TestExpectations(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes thousands of runs")
	}
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	locks := slices.Concat(redislocks.Unlocked(), etcdlocks.All(), zklocks.All(), sqllocks.All(), mysqllocks.All(),
		sentinellocks.All(), clusterlocks.All())
	runs := 0
	for _, sc := range all {
		for _, name := range slices.Sorted(maps.Keys(sc.Expect)) {
			t.Run(sc.Name+" "+name, func(t *testing.T) {
				unmet, err := unmetBy(sc, name, locks)
				if missing, ok := errors.AsType[*subject.MissingError](err); ok && testruns.WithoutPostgres(missing.Why) {
					t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, sentence := range unmet {
					t.Error(sentence)
				}
				runs += len(sc.Expect[name])
			})
		}
	}
	t.Logf("%d runs", runs)
}

// unmetBy plays a scenario once with a lock in each mode for which it has an expectation. It returns a sentence for
// each run that ends worse, and for each expectation that no run can meet.
func unmetBy(sc *file.Scenario, name string, locks []subject.Lock) (unmet []string, err error) {
	if !slices.Contains(sc.LockNames(), name) {
		return []string{fmt.Sprintf("%s: scenario %s does not name lock %s, so nothing plays it: add it to locks, or "+
			"remove what is expected of it",
			sc.Pos("expect."+name), sc.Name, name)}, nil
	}
	l, err := redislocks.Find(name, locks)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: slices.Sorted(maps.Keys(sc.Expect[name])), Bare: true,
		Shared: true})
	if err != nil {
		return nil, err
	}
	for _, m := range o.Modes {
		switch expected := sc.Expect[name][m.Mode]; {
		case m.Verdict.Label == checker.NotApplicable:
			unmet = append(unmet, fmt.Sprintf("scenario %s, lock %s, mode %s: got no run, expected %s: the lock mints no "+
				"tokens: remove what is expected of it", sc.Name, name, m.Mode, expected))
		case m.Verdict.Label.Severity() > expected.Severity():
			unmet = append(unmet, fmt.Sprintf("scenario %s, lock %s, mode %s: got %s, expected %s: go run ./cmd/locksim run "+
				"%s --lock %s --seed 1 --fencing %s",
				sc.Name, name, m.Mode, m.Verdict.Label, expected, sc.Name, name, m.Mode))
		}
	}
	return unmet, nil
}

// The library says what each cell of the matrix should show: each lock of a
// scenario has a label for each mode in which it runs.
func TestLibraryExpectsSomethingOfEachCell(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, name := range s.LockNames() {
			l, err := redislocks.Find(name, slices.Concat(redislocks.Unlocked(), etcdlocks.All(), sqllocks.All(),
				mysqllocks.All(), zklocks.All(), sentinellocks.All(), clusterlocks.All()))
			if testruns.WithoutPostgres(err) {
				continue
			}
			if err != nil {
				t.Errorf("%s names the lock %s: %v", s.File, name, err)
			}
			for _, mode := range fence.Modes() {
				_, ok := s.Expect[name][mode]
				if want := l.Runs(mode); ok != want {
					t.Errorf("%s: an expectation of %s in mode %s: %v, want %v", s.File, name, mode, ok, want)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Expect)) {
			if !slices.Contains(s.LockNames(), name) {
				t.Errorf("%s expects something of %s, which is none of its locks", s.File, name)
			}
		}
	}
}

// An expectation that a run does not meet is told with all that it takes to look into it, and so is one that nothing
// plays.
func TestUnmetExpectations(t *testing.T) {
	const pause = `name: gc-pause
lock: {kind: fenced, ttl: 10s, backoff: 50ms..200ms}
workload: {rounds: 3, hold: 2s, think: 1s}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
locks: [fenced, single]
expect:
`
	for name, tt := range map[string]struct{ expect, lock, want string }{
		"met":    {"  fenced: {none: corrupted, seal: rescued}\n", "fenced", ""},
		"better": {"  fenced: {none: corrupted, seal: corrupted}\n", "fenced", ""},
		"worse": {"  fenced: {none: safe, seal: safe}\n", "fenced",
			"scenario gc-pause, lock fenced, mode none: got corrupted, expected safe: go run ./cmd/locksim run gc-pause " +
				"--lock fenced --seed 1 --fencing none\n" +
				"scenario gc-pause, lock fenced, mode seal: got rescued, expected safe: go run ./cmd/locksim run gc-pause --lock " +
				"fenced --seed 1 --fencing seal"},
		"a lock that is not named": {"  fenced: {none: corrupted}\n  watchdog: {none: corrupted}\n", "watchdog",
			"x.yaml:10:3: scenario gc-pause does not name lock watchdog, so nothing plays it: add it to locks, or remove what " +
				"is expected of it"},
		"a lock without tokens": {"  single: {none: corrupted, seal: rescued}\n", "single",
			"scenario gc-pause, lock single, mode seal: got no run, expected rescued: the lock mints no tokens: remove what " +
				"is expected of it"},
	} {
		t.Run(name, func(t *testing.T) {
			sc, err := file.Parse("x.yaml", []byte(pause+tt.expect))
			if err != nil {
				t.Fatal(err)
			}
			unmet, err := unmetBy(sc, tt.lock, nil)
			if d := cmp.Diff(tt.want, strings.Join(unmet, "\n")); d != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, d)
			}
		})
	}
}

// Each lock that promises duties, and can be asked without waiting, promises that a try does not wait: the search then
// judges it. A lock whose grants take a while besides their messages does not: its try has to be sure of the lock too.
func TestTriesArePromised(t *testing.T) {
	for _, l := range slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), mysqllocks.All()) {
		if len(l.Promise.Duties) == 0 || l.GrantTime > 0 {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			space, err := search.Discover(l, spaces.Space{})
			if missing, ok := errors.AsType[*subject.MissingError](err); ok && testruns.WithoutPostgres(missing.Why) {
				t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if promised := slices.Contains(l.Promise.Duties, promise.DutyTries); promised != space.Tries {
				t.Errorf("it can try: %v, and promises that a try does not wait: %v", space.Tries, promised)
			}
		})
	}
}
