package scenarios

import (
	"fmt"
	"time"

	"locksim/faults"
	"locksim/sim"
)

// schedule applies the faults of a run, at their times and when their events
// have come. It lives on the world's goroutine.
type schedule struct {
	world  *sim.World
	faults []faults.Fault
	fired  []bool
	passed map[passage]int
	failed error
}

// passage is an event of a client; how often it has come is counted.
type passage struct{ client, event string }

func newSchedule(w *sim.World, list []faults.Fault) *schedule {
	s := &schedule{world: w, faults: list, fired: make([]bool, len(list)), passed: map[passage]int{}}
	for i, f := range list {
		if f.When == nil {
			w.At(f.At, func() { s.strike(i) })
		}
	}
	w.OnPoint(s.point)
	return s
}

// point counts an event and applies the faults that have waited for it. The
// driver's own events are marks of their kind, others are named points.
func (s *schedule) point(process, kind, label string) {
	event := kind
	if kind == "point" {
		event = label
	}
	at := passage{process, event}
	s.passed[at]++
	for i, f := range s.faults {
		if f.When != nil && f.When.Client == process && f.When.Name == event && f.When.Nth == s.passed[at] {
			s.strike(i)
		}
	}
}

func (s *schedule) strike(i int) {
	if s.fired[i] {
		return
	}
	s.fired[i] = true
	if err := s.faults[i].Action.Apply(s.world); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("fault %d: %w", i+1, err)
	}
}

// lastsFor is how long an action works, as far as it says.
func lastsFor(a faults.Action) time.Duration {
	switch a := a.(type) {
	case faults.Pause:
		return a.For
	case faults.Partition:
		return a.For
	}
	return 0
}
