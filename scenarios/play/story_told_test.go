package play_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// tellsAtRelease is a lease that closes Lost when it is released, as many libraries do.
type tellsAtRelease struct {
	lock.Lease
	over chan struct{}
	once sync.Once
}

func (l *tellsAtRelease) Lost() <-chan struct{} { return l.over }

func (l *tellsAtRelease) Release(ctx context.Context) error {
	l.once.Do(func() { close(l.over) })
	return l.Lease.Release(ctx)
}

// tellingLocker gives such leases.
type tellingLocker struct{ lock.Locker }

func (l tellingLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return &tellsAtRelease{Lease: lease, over: make(chan struct{})}, nil
}

// storyWith is the story of a scenario in mode none, each line with its actor.
func storyWith(t *testing.T, scenario string, l subject.Lock) (lines []string) {
	t.Helper()
	o := testruns.Play(t, testruns.Parse(t, scenario), l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	for _, line := range o.Modes[0].Story {
		lines = append(lines, line.Actor+" "+line.Text)
	}
	return lines
}

// The story says what is true of clocks, of notices and of extensions: a clock that is stopped does not drift, one that
// differs from the start does not jump, a client that does not look for a notice learns nothing from it, a release is
// no loss, and an extension that failed has an error.
func TestStoryTellsWhatIsTrue(t *testing.T) {
	const partitioned = `
name: told
world: {redis: 1, clients: 1, latency: 1ms, skew: 5s}
lock: {kind: watchdog, ttl: 2s, backoff: 100ms}
workload: {rounds: 1, hold: 3s, extend: 2, extend_within: 500ms, checks_until: CARE}
faults:
  - at: 1s
    clock_drift: {clock: r0, ppm: -1000000, for: 1s}
  - at: 3s
    clock_drift: {clock: r0, ppm: 100, for: 1s}
  - at: 3s
    clock_jump: {clock: c0, by: 1ms}
  - at: 1500ms
    partition: {between: [c0], and: [r0], for: 5s}
`
	for _, tt := range []struct {
		care       string
		has, hasNo []string
	}{
		{"never", []string{
			"r0 CLOCK IS BEHIND from the start, by", "r0 CLOCK STANDS STILL", "r0 CLOCK RUNS as before",
			"r0 CLOCK DRIFTS by 100 ppm", "c0 CLOCK JUMPS by 1ms",
			"c0 asks to extend its lease", "c0 has extended its lease", "c0 fails to extend its lease: extend order: outcome " +
				"unknown: ",
			"c0 is told by the lock that its lease has ended, but does not look before it writes",
		}, []string{"learns that it has lost", "-1000000 ppm", "r0 CLOCK JUMPS", "passes extend", "passes not-extended"}},
		{"lost", []string{"c0 learns that it has lost the lock"}, []string{"does not look"}},
		{"steps", []string{"c0 learns that it has lost the lock"}, []string{"does not look"}},
	} {
		story := storyWith(t, strings.Replace(partitioned, "CARE", tt.care, 1), testruns.Kind(t, "watchdog"))
		for _, want := range tt.has {
			if !slices.ContainsFunc(story, func(line string) bool { return strings.HasPrefix(line, want) }) {
				t.Errorf("checks_until %s: there is no %q in\n%s", tt.care, want, strings.Join(story, "\n"))
			}
		}
		for _, wrong := range tt.hasNo {
			if strings.Contains(strings.Join(story, "\n"), wrong) {
				t.Errorf("checks_until %s: there is %q in\n%s", tt.care, wrong, strings.Join(story, "\n"))
			}
		}
	}
}

// Many libraries end the context of a lease, or close its channel, at its release: that is no loss.
func TestStoryOfAReleaseIsNoLoss(t *testing.T) {
	l := testruns.Kind(t, "single")
	create := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		inner, err := create(e)
		return tellingLocker{inner}, err
	}
	story := storyWith(t, `
name: told
world: {redis: 1, clients: 1, latency: 1ms}
lock: {kind: single, ttl: 10s, backoff: 100ms}
workload: {rounds: 2, hold: 1s, checks_until: lost}
`, l)
	if text := strings.Join(story, "\n"); strings.Contains(text, "has lost") ||
		!strings.Contains(text, "c0 has released") {
		t.Errorf("the story of two calm rounds:\n%s", text)
	}
}
