package play_test

import (
	"fmt"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// A release whose reply is lost is called again after the client's next Acquire has begun. A lock whose object has one
// owner id frees its own next grant by that; one with an id for each Acquire frees nothing.
func TestReleaseLater(t *testing.T) {
	const text = `
world: {latency: 1ms}
lock: {backoff: 50ms}
workload: {rounds: 3, hold: 2s, think: 0s, release: %s}
faults:
  - when: {client: c0, event: release, nth: 1}
    lose_reply: {between: [c0], and: [r0]}
`
	perObject := byID("per-object", subject.Env.Name)
	perAcquire := func() subject.Lock {
		n := 0
		return byID("per-acquire", func(e subject.Env) string { n++; return fmt.Sprint(e.Name(), n) })
	}
	for _, c := range []struct {
		release string
		make    func() subject.Lock
		want    bool // some run has two holders at once
	}{
		{"last", func() subject.Lock { return perObject }, false},
		{"later", func() subject.Lock { return perObject }, true},
		{"later", perAcquire, false},
	} {
		t.Run(c.make().Name+" "+c.release, func(t *testing.T) {
			again, overlaps := 0, 0
			for seed := range uint64(20) {
				l := c.make()
				sc := testruns.Parse(t, "name: later"+fmt.Sprintf(text, c.release))
				m := testruns.Play(t, sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None},
					Repeat: outcome.Once}).Modes[0]
				if m.Verdict.Facts.ClaimOverlaps > 0 {
					overlaps++
				}
				for _, e := range m.Trace.Events {
					if mark, ok := e.What.(trace.Mark); ok && mark.Label == trace.PointReleaseAgain {
						again++
					}
				}
			}
			if overlaps > 0 != c.want || again > 0 != (c.release == "later") {
				t.Errorf("%d of 20 runs have overlaps, want some: %v; a release was called again %d times", overlaps, c.want, again)
			}
		})
	}
}

// A release that is called again late is no violation of a right lock, whatever made the first call fail.
func TestRightReleasedLater(t *testing.T) {
	runs := testruns.Soak(t, 200, 0.02)
	for _, kind := range kinds.Names() {
		t.Run(kind, func(t *testing.T) {
			l, again := testruns.Kind(t, kind), 0
			nodes := strings.Join(file.Numbered("r", l.Nodes()), ", ")
			waits := []string{"poll", "notify"}
			if l.Nodes() > 1 {
				waits = waits[:1]
			}
			modes := []fence.Mode{fence.None}
			if mode, ok := l.DataMode(); ok && mode != fence.None {
				modes = append(modes, mode)
			}
			for i := range runs {
				for j, fault := range []string{"lose_reply: {between: [c0], and: [%s]}", "reset: {between: [c0], and: [%s]}",
					"partition: {between: [c0], and: [%s], for: 3s}"} {
					within := []string{"", ", release_within: 3ms", ", release_within: 700ms"}[(i+j)%3]
					sc := testruns.Parse(t, fmt.Sprintf(`name: later
world: {redis: %d, clients: 3, latency: 1ms..2ms}
lock: {ttl: 2s, backoff: 20ms..50ms, wait: %s}
workload: {rounds: 3, hold: 200ms, think: %s, release: later%s}
faults:
  - when: {client: c0, event: release, nth: %d}
    %s
  - when: {client: c1, event: release, nth: 1}
    lose_reply: {between: [c1], and: [%s]}
`, l.Nodes(), waits[i%len(waits)], []string{"0s", "300ms"}[i/2%2], within, 1+i%2, fmt.Sprintf(fault, nodes), nodes))
					o := testruns.Play(t, sc, l, play.RunOptions{Seed: uint64(i), Modes: modes, Repeat: outcome.Once})
					for _, v := range outcome.Violations(o, l.Promise) {
						t.Errorf("seed %d, %v: %v\n%s", i, v, o.Modes[0].Verdict.Reasons, testruns.Format(t, sc))
					}
					again += len(releasedAgain(o.Modes[0]))
				}
			}
			if again == 0 {
				t.Error("no release was called again")
			}
		})
	}
}

// releasedAgain are the releases that were called again and answered.
func releasedAgain(m outcome.ModeRun) (out []string) {
	for _, e := range m.Trace.Events {
		if mark, ok := e.What.(trace.Mark); ok && (mark.Label == trace.PointReleasedAgain ||
			mark.Problem == lock.ErrNotHeld.Error()) {
			out = append(out, mark.Label)
		}
	}
	return out
}
