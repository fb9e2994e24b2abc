package sim

import (
	"fmt"
	"time"
)

// machine is who has a clock: a process or a Redis node.
type machine interface {
	JumpClock(d time.Duration)
	DriftClock(ppm int64)
}

// machine finds who has a clock by its name.
func (w *World) machine(name string) (machine, error) {
	if p := w.procs[name]; p != nil {
		return p, nil
	}
	if h, err := w.findHost(name); err == nil {
		if n, ok := h.(*RedisNode); ok {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%q has no clock in this world: give a client such as c0, or a Redis node such as r0", name)
}

// JumpClock moves the wall clock of a process or of a Redis node, back where d
// is negative (F18, F19, F21). A process's monotonic time is not touched.
func (w *World) JumpClock(name string, d time.Duration) error {
	m, err := w.machine(name)
	if err != nil {
		return err
	}
	m.JumpClock(d)
	return nil
}

// DriftClock makes the clock of a process or of a Redis node run faster by so
// many parts per million, slower where ppm is negative (F20); at -1,000,000 it
// stands still. It runs at its own rate again after d, or at [World.Heal] where
// d is 0. A second drift of one clock replaces the first. A rate below
// -1,000,000 or above 9,000,000 is an error.
func (w *World) DriftClock(name string, ppm int64, d time.Duration) error {
	m, err := w.machine(name)
	if err != nil {
		return err
	}
	if ppm < minDrift || ppm > maxDrift {
		return fmt.Errorf("drift of %s by %d ppm: give %d (it stands still) to %d", name, ppm, minDrift, maxDrift)
	}
	if err := checkLength("drift of "+name, d); err != nil {
		return err
	}
	w.endDrift(name)
	m.DriftClock(ppm)
	if ppm != 0 {
		w.force.drifts[name] = w.lasts(d, func() { w.steady(name) })
	}
	return nil
}

// endDrift forgets the drift of a clock that another replaces.
func (w *World) endDrift(name string) {
	if s := w.force.drifts[name]; s != nil {
		s.forget()
		delete(w.force.drifts, name)
	}
	if w.force.drifts == nil {
		w.force.drifts = map[string]*spell{}
	}
}

// steady gives a clock its own rate back. Whoever had it when the drift began
// may have crashed and come back since.
func (w *World) steady(name string) {
	delete(w.force.drifts, name)
	if m, err := w.machine(name); err == nil {
		m.DriftClock(0)
	}
}
