package shrink_test

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/faults"
	"locksim/internal/soak"
	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/shrink"
	"locksim/scenarios/spaces"
)

// reducer is Minimize, or a mutant of it.
type reducer func(*file.Scenario, func(*file.Scenario) bool) *file.Scenario

// wrongWith describes a fault in a reducer's result for a failing scenario. The
// result has to be valid, to fail, to be the same in a second call and after it was
// read from a file, and to be minimal. The scenario itself must not change.
func wrongWith(t testing.TB, reduce reducer, sc *file.Scenario, fails func(*file.Scenario) bool) error {
	t.Helper()
	before, trials := testruns.Format(t, sc), 0
	small := reduce(sc, func(s *file.Scenario) bool { trials++; return fails(s) })
	if after := testruns.Format(t, sc); after != before {
		return fmt.Errorf("the scenario has changed:\n%s", cmp.Diff(before, after))
	}
	source, err := file.Format(small)
	if err != nil {
		return err
	}
	text := string(source)
	if !fails(small) {
		return fmt.Errorf("the result does not fail:\n%s", text)
	}
	if again := testruns.Format(t, reduce(sc, fails)); again != text {
		return fmt.Errorf("the second result differs:\n%s", cmp.Diff(text, again))
	}
	read, err := file.Parse("small.yaml", source)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if len(read.Faults) != len(small.Faults) || !cmp.Equal(read.World, small.World) {
		return fmt.Errorf("the result differs after it was read from a file:\n%s", text)
	}
	if trials > shrink.MaxTrials {
		return fmt.Errorf("%d trials", trials)
	}
	if trials == shrink.MaxTrials {
		return nil
	}
	return smallest(t, small, fails)
}

// smallest describes a part that could still be removed.
func smallest(t testing.TB, small *file.Scenario, fails func(*file.Scenario) bool) error {
	t.Helper()
	for i, f := range small.Faults {
		fewer := small.Clone()
		fewer.Faults = slices.Delete(fewer.Faults, i, i+1)
		if fewer.Validate() == nil && fails(fewer) {
			return fmt.Errorf("the result also fails without %v:\n%s", f, testruns.Format(t, small))
		}
	}
	if text, again := testruns.Format(t, small), testruns.Format(t, shrink.Minimize(small, fails)); again != text {
		return fmt.Errorf("the result can be made smaller:\n%s", cmp.Diff(text, again))
	}
	return nil
}

// atRandom fails for one scenario in so many, and for sc itself.
func atRandom(sc *file.Scenario, in int) func(*file.Scenario) bool {
	hash := func(s *file.Scenario) uint64 {
		text, _ := file.Format(s)
		h := fnv.New64a()
		_, _ = h.Write(text)
		return h.Sum64() / 7
	}
	first := hash(sc)
	return func(s *file.Scenario) bool { return hash(s) == first || hash(s)%uint64(in) == 0 }
}

// Minimize works for any drawn scenario and any reason to fail.
func TestMinimizeAnything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	soak.Checks(t, 25)
	all := testruns.Spaces(t)
	rapid.Check(t, func(r *rapid.T) {
		sc := search.Draw(testruns.Choices{T: r}, rapid.SampledFrom(all).Draw(r, "space"))
		in := rapid.IntRange(1, 50).Draw(r, "fails once in")
		if err := wrongWith(t, shrink.Minimize, sc, atRandom(sc, in)); err != nil {
			r.Fatal(err)
		}
	})
}

// For each cause of a failure, Minimize leaves only what the cause needs.
func TestMinimizeToTheCause(t *testing.T) {
	if testing.Short() {
		t.Skip("takes many runs")
	}
	space := testruns.Spaces(t)[0]
	space.Strategy = spaces.StrategySwarm // its schedules have most of the causes
	for _, c := range causes {
		t.Run(c.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(150) {
				sc := search.Draw(spaces.Seeded(seed), space)
				if !c.fails(sc) {
					continue
				}
				found++
				if err := wrongWith(t, shrink.Minimize, sc, c.fails); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				small := anyEvent.ReplaceAllString(testruns.Format(t, shrink.Minimize(sc, c.fails)), "event: any,")
				if !slices.Contains(c.want, small) {
					t.Fatalf("seed %d: got\n%swant\n%s", seed, small, strings.Join(c.want, "or\n"))
				}
			}
			if found == 0 {
				t.Error("no scenario has the cause")
			}
		})
	}
}

// The result has neither the expectations of the original nor its positions in a
// file; the original keeps both.
func TestMinimizeDetachesTheResult(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	small := shrink.Minimize(sc, func(s *file.Scenario) bool { return len(s.Faults) > 0 })
	if small.Expect != nil || small.Locks != nil || small.Catalogue != nil || small.File != "" || small.Source != nil ||
		small.Faults[0].Pos != (faults.Pos{}) {
		t.Errorf("the result is not detached: %+v", small)
	}
	if sc.Expect == nil || sc.Locks == nil || sc.File == "" || sc.Source == nil || sc.Pos("faults[0]") == (faults.Pos{}) ||
		sc.Faults[0].Pos == (faults.Pos{}) {
		t.Errorf("the scenario has lost something: %+v", sc)
	}
}

// A scenario that does not fail, or is not valid, is returned unchanged.
func TestMinimizeWithoutAFailure(t *testing.T) {
	sc := file.Defaults()
	sc.Name = "calm"
	if got := shrink.Minimize(sc, func(*file.Scenario) bool { return false }); got != sc {
		t.Errorf("got %+v", got)
	}
	sc.World.Clients = -1
	if got := shrink.Minimize(sc, func(*file.Scenario) bool { t.Error("tried"); return true }); got != sc {
		t.Errorf("got %+v", got)
	}
}

// cause is a reason to fail, and the possible results for it.
type cause struct {
	name  string
	fails func(*file.Scenario) bool
	want  []string
}

var causes = []cause{{
	"nothing", func(*file.Scenario) bool { return true }, []string{bare("")},
}, {
	"a long pause of any client", func(s *file.Scenario) bool {
		return slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			p, ok := f.Action.(faults.Pause)
			return ok && p.For > s.Lock.TTL
		})
	}, []string{bare(atSomeEvent("pause: {process: c0, for: 15s}")), bare(atSomeEvent("pause: {process: c0, for: 11s}"))},
}, {
	"pauses that are long enough together", func(s *file.Scenario) bool {
		total := time.Duration(0)
		for _, f := range s.Faults {
			if p, ok := f.Action.(faults.Pause); ok {
				total += p.For
			}
		}
		return total > 3*s.Lock.TTL
	}, []string{bare(atSomeEvent("pause: {process: c0, for: 40s}")), bare(atSomeEvent("pause: {process: c0, for: 35s}")),
		bare(atSomeEvent("pause: {process: c0, for: 31s}")), bare(atSomeEvent("pause: {process: c0, for: 32s}"))},
}, {
	"two clients and a node that restarts", func(s *file.Scenario) bool {
		crashed := slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			c, ok := f.Action.(faults.Crash)
			return ok && c.Process == "r0"
		})
		return crashed && s.World.Clients >= 2 && slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			return f.Action == faults.Restart{Process: "r0"}
		})
	}, []string{strings.Replace(bare(atSomeEvent("crash: {process: r0}")+atSomeEvent("restart: {process: r0}")),
		"clients: 1", "clients: 2", 1)},
}, {
	"a cut from the store", func(s *file.Scenario) bool {
		return slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			p, ok := f.Action.(faults.Partition)
			return ok && (len(p.And) == 0 || slices.Contains(p.And, "s0"))
		})
	}, []string{bare(atSomeEvent("partition: {between: [c0], and: [s0], for: 1ms}"))},
}, {
	"a clock that jumps back by more than half the TTL", func(s *file.Scenario) bool {
		return slices.ContainsFunc(s.Faults, func(f faults.Fault) bool {
			j, ok := f.Action.(faults.ClockJump)
			return ok && j.By < -s.Lock.TTL/2
		})
	}, []string{bare(atSomeEvent("clock_jump: {clock: c0, by: -6s}")),
		bare(atSomeEvent("clock_jump: {clock: r0, by: -6s}"))},
}, {
	"a failover", func(s *file.Scenario) bool {
		return slices.ContainsFunc(s.Faults, func(f faults.Fault) bool { return f.Action.Kind() == "failover" })
	}, []string{strings.Replace(bare(atSomeEvent("failover: {to: r0a}")), "1ms}", "1ms, replicas: 1}", 1)},
}}

// bare is the minimal scenario with a schedule.
func bare(schedule string) string {
	if schedule != "" {
		schedule = "faults:\n" + schedule
	}
	return `name: drawn
world: {redis: 1, clients: 1, latency: 1ms}
lock: {kind: fenced, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never}
` + schedule
}

func atSomeEvent(action string) string {
	return "  - when: {client: c0, event: any, nth: 1}\n    " + action + "\n"
}

var anyEvent = regexp.MustCompile(`event: [a-z]+,`)

// A server that comes back after its crash does so in the minimal scenario as well, where a lock could never be had
// without it; a crash that lasts from the start stays as it is.
func TestMinimizeKeepsTheReturnOfAServer(t *testing.T) {
	crashes := func(sc *file.Scenario) bool {
		return slices.ContainsFunc(sc.Faults, func(f faults.Fault) bool { return f.Action.Kind() == "crash" })
	}
	for text, want := range map[string]int{
		"  - at: 1s\n    crash: {process: r0}\n  - at: 2s\n    pause: {process: c0, for: 1s}\n  - at: 3s\n    restart: {process: r0}\n": 2,
		"  - at: 1s\n    crash: {process: r0}\n  - at: 2s\n    pause: {process: c0, for: 1s}\n":                                         1,
	} {
		if small := shrink.Minimize(testruns.Parse(t, "name: crash\nfaults:\n"+text), crashes); len(small.Faults) != want {
			t.Errorf("%d faults are left of\n%s", len(small.Faults), text)
		}
	}
}
