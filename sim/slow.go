package sim

import (
	"fmt"
	"time"
)

// Slow makes the timers of a process late, as a machine does that has no
// processor to spare (F37): whatever timer of its clock comes due while it
// lasts, of [Clock.Sleep] or [Clock.AfterFunc], fires by that much later, also
// where it is over by then. It lasts for d, or until [World.Heal] where
// d is 0. Two that overlap add up.
//
// Timers of the Go runtime run on the world's time, and are not late: those of
// other people's locks, of contexts, and the deadlines of sockets.
func (w *World) Slow(process string, by, d time.Duration) error {
	p, err := w.Process(process)
	if err != nil {
		return err
	}
	if by <= 0 {
		return fmt.Errorf("slow %s by %v: a timer is late by more than 0s", process, by)
	}
	if err := checkLength("slow "+process, d); err != nil {
		return err
	}
	if p.Crashed() {
		return nil // nothing left to be late
	}
	w.record("world", "slow", p.name, fmt.Sprintf("timers late by %v, %s", by, howLong(d)))
	p.lag += by
	w.lasts(d, func() {
		p.lag -= by
		w.record("world", "slow-end", p.name, "")
	})
	return nil
}
