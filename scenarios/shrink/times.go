package shrink

import (
	"time"

	"locksim/scenarios/file"
)

// shortTimes makes every time as short and as round as possible: those of the
// workload first, so that the length of a fault does not depend on them. The TTL,
// the backoff and the latency are only rounded: a lock with a shorter TTL is
// another lock.
func (m *minimizer) shortTimes() {
	for _, d := range append(workDials(m.best), faultDials(m.best)...) {
		m.shorten(d)
		m.round(d)
	}
	for _, d := range setDials(m.best) {
		m.round(d)
	}
}

// shorten looks for the shortest round time that fails and is shorter by a quarter
// at least, by bisection.
func (m *minimizer) shorten(d dial) {
	now := d.of(m.best)
	if now == 0 || d.zero == shortest && m.turn(d, 0) {
		return
	}
	shorter := roundTimes(d.least, now-now/4)
	if len(shorter) == 0 || m.turn(d, shorter[0]) {
		return
	}
	for from, to := 1, len(shorter); from < to; {
		if half := (from + to) / 2; m.turn(d, shorter[half]) {
			to = half
		} else {
			from = half + 1
		}
	}
}

// round looks for a near time with fewer digits.
func (m *minimizer) round(d dial) {
	for _, rounder := range rounderThan(d.of(m.best)) {
		if m.turn(d, rounder) {
			return
		}
	}
}

func (m *minimizer) turn(d dial, to time.Duration) bool {
	return m.attempt(func(s *file.Scenario) { d.turn(s, to) })
}

// roundTTL makes the TTL 10s, or at least round, and scales all other times in
// proportion, except those of the network; failing that it changes the TTL alone.
func (m *minimizer) roundTTL() {
	const usual = 10 * time.Second
	ttl := m.best.Lock.TTL
	if ttl == usual || m.attempt(scaledTo(usual)) || m.attempt(func(s *file.Scenario) { s.Lock.TTL = usual }) {
		return
	}
	for _, rounder := range rounderThan(ttl) {
		if m.attempt(scaledTo(rounder)) {
			return
		}
	}
}

// scaledTo scales all times, to whole milliseconds, so that the TTL becomes the
// given time.
func scaledTo(ttl time.Duration) func(*file.Scenario) {
	return func(s *file.Scenario) {
		factor := float64(ttl) / float64(s.Lock.TTL)
		for i, f := range s.Faults { // never shortened for its own sake: that makes more strikes
			s.Faults[i].Every = time.Duration(float64(f.Every) * factor).Round(time.Millisecond)
		}
		for _, d := range append(faultDials(s), append(workDials(s), backoffDials(s)...)...) {
			if now := d.of(s); now != 0 && d.scales == withTTL {
				d.turn(s, max(time.Duration(float64(now)*factor).Round(time.Millisecond), time.Millisecond))
			}
		}
		s.Lock.TTL = ttl
	}
}
