package play

import (
	"errors"
	"time"

	"locksim/scenarios/file"
)

// ticking is the register that the ticks of a leader write.
func ticking(w file.Workload) string { return w.Writes()[0] }

// leading is the workload whose sections are the terms of a leader.
var leading = workload{section: (*grant).lead, registers: (*play).registers}

// lead is a term of a leader: one tick after another, until the leader has to stop, a tick fails, or its process is
// asked to end. Whatever ends the term, the client releases the lock, as a leader does that has stopped. With an early
// release it resigns before the last write of a term that it ends by itself.
func (g *grant) lead() error {
	c := g.client
	w, s := c.play.sc.Workload, stepDown{client: c, grant: g}
	for tick := range w.TicksOfTerm() {
		if over, err := s.over(); over || err != nil {
			return err
		}
		saw, ok, err := g.read(ticking(w))
		if !ok || err != nil {
			return err
		}
		if err := g.hold(w.Hold); errors.Is(err, errAsked) {
			return nil
		} else if err != nil {
			return err
		}
		if over, err := s.over(); over || err != nil {
			return err
		}
		if w.Release == file.ReleaseEarly && tick == w.TicksOfTerm()-1 {
			if err := g.release(); err != nil {
				return err
			}
		}
		if ok, err := g.write(ticking(w), saw); !ok || err != nil {
			return err
		}
	}
	return nil
}

// stepDown is how a leader stops: in its own time after it was told.
type stepDown struct {
	client *client
	grant  *grant
	told   bool
	by     time.Time // by the clock of the process, once it was told
}

// over reports whether the leader makes no further step. It passes the point stopping when it is told.
func (s *stepDown) over() (bool, error) {
	c := s.client
	if !s.told {
		told, err := s.grant.leaseIsOver()
		if !told || err != nil {
			return false, err
		}
		s.told, s.by = true, c.proc.Clock().Now().Add(c.play.sc.Workload.Stop)
		if err := c.point("stopping"); err != nil {
			return true, err
		}
	}
	return !c.proc.Clock().Now().Before(s.by), nil
}
