package shrink_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/shrink"
)

func TestRoundTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		least, most time.Duration
		want        string
	}{
		{ms, ms / 2, "[]"},
		{ms, ms, "[1ms]"},
		{ms, 21 * ms, "[1ms 2ms 3ms 4ms 5ms 6ms 7ms 8ms 9ms 10ms 15ms 20ms]"},
		{time.Second, time.Hour, "[1s 2s 3s 4s 5s 6s 7s 8s 9s 10s 15s 20s 30s 40s 50s 1m0s 1m30s 2m30s 5m0s 10m0s 15m0s " +
			"25m0s 50m0s]"},
		{1, 12, "[1ns 2ns 3ns 4ns 5ns 6ns 7ns 8ns 9ns 10ns]"},
	} {
		if got := fmt.Sprint(shrink.RoundTimes(c.least, c.most)); got != c.want {
			t.Errorf("from %v to %v: got %s, want %s", c.least, c.most, got, c.want)
		}
	}
}

func TestRounderThan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "[]",
		7:                          "[]",
		time.Second:                "[]",
		15 * time.Second:           "[]",
		873 * time.Millisecond:     "[1s 800ms 900ms 850ms 870ms 880ms]",
		5371 * time.Millisecond:    "[5s 6s 5.5s 5.3s 5.4s]",
		500 * time.Second:          "[10m0s 8m0s 9m0s 8m30s 8m18s 8m24s]",
		71 * time.Second:           "[1m0s 1m6s 1m12s]",
		18 * time.Second:           "[20s]",
		1234567 * time.Microsecond: "[1s 1.5s 1.2s 1.3s]",
		2*time.Second + 345678901*time.Nanosecond: "[2s 2.5s 2.3s 2.4s]",
	} {
		if got := fmt.Sprint(shrink.RounderThan(d)); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

// All times are scaled with the TTL, except those of the network and the rates of
// clocks.
func TestScaledTo(t *testing.T) {
	sc, err := file.Parse("scaled.yaml", []byte(`
name: scaled
world: {redis: 1, replicas: 1, lag: 20ms..30ms, clients: 2, latency: 1ms..5ms}
lock: {kind: fenced, ttl: 2s, backoff: 10ms..40ms}
workload: {rounds: 1, hold: 300ms, think: 1ms, stagger: 100ms, timeout: 4s, request: 1s,
  acquire_within: 3s, extend_within: 200ms, release_within: 600ms}
faults:
  - at: 700ms
    clock_jump: {clock: c0, by: -3s}
  - when: {client: c0, event: read, nth: 1}
    after: 20ms
    clock_drift: {clock: c0, ppm: 100, for: 9s}
`))
	if err != nil {
		t.Fatal(err)
	}
	shrink.ScaledTo(10 * time.Second)(sc)
	const want = `name: scaled
world: {redis: 1, clients: 2, latency: 1ms..5ms, replicas: 1, lag: 100ms..150ms}
lock: {kind: fenced, ttl: 10s, backoff: 50ms..200ms}
workload: {rounds: 1, hold: 1.5s, think: 5ms, stagger: 500ms, timeout: 20s, checks_until: never, request: 5s` +
		`, acquire_within: 15s, extend_within: 1s, release_within: 3s}
faults:
  - at: 3.5s
    clock_jump: {clock: c0, by: -15s}
  - when: {client: c0, event: read, nth: 1}
    after: 100ms
    clock_drift: {clock: c0, ppm: 100, for: 45s}
`
	if got := testruns.Format(t, sc); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The times after which requests end, and by which messages are late, become short and round as all others do.
func TestMinimizeRoundsEveryTime(t *testing.T) {
	sc, err := file.Parse("odd.yaml", []byte(`
name: odd
world: {redis: 1, clients: 2, latency: 1ms}
lock: {kind: fenced, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, timeout: 3.417s, request: 2.346s,
  acquire_within: 1.234s, extend_within: 2.345s, release_within: 3.456s, deadline: true, extend: 1}
faults:
  - when: {client: c0, event: write, nth: 1}
    delay_message: {between: [c0, c1], and: [r0, s0], by: 13.371s, direction: both}
`))
	if err != nil {
		t.Fatal(err)
	}
	small := shrink.Minimize(sc, func(s *file.Scenario) bool {
		w := s.Workload
		for _, d := range []time.Duration{w.Timeout, w.Request, w.AcquireWithin, w.ExtendWithin, w.ReleaseWithin} {
			if d < 470*time.Millisecond {
				return false
			}
		}
		if len(s.Faults) != 1 {
			return false
		}
		late, ok := s.Faults[0].Action.(faults.DelayMessage)
		return ok && late.By > 8123*time.Millisecond
	})
	const want = `name: odd
world: {redis: 1, clients: 1, latency: 1ms}
lock: {kind: fenced, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, timeout: 500ms, checks_until: never, request: 500ms` +
		`, acquire_within: 500ms, extend_within: 500ms, release_within: 500ms}
faults:
  - when: {client: c0, event: write, nth: 1}
    delay_message: {between: [c0], and: [r0], by: 9s}
`
	if got := testruns.Format(t, small); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
