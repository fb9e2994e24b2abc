package scene

import (
	"time"

	"locksim/checker"
)

// Focus is the span of time that shows how the run was decided: from the grants that are
// in force at the decisive step, that of the operation which the store decides there, and
// the faults that strike during them, to that step. Where there is no such grant, the last
// one counts. It has no lane, and is nil for a run
// without a decisive step. With a store under test it is that of the operations that decide.
func (s *Scene) Focus() *Span {
	if s.Fatal == 0 {
		return nil
	}
	p := checker.Pos(s.Fatal)
	at := s.At(p)
	if first, last := s.Run.Answered(); last > 0 { // by a store under test, whatever grants there were
		return &Span{Step: s.Fatal, Start: s.At(first), End: at}
	}
	from, last := at, time.Duration(-1)
	decided := 0 // the grant of the operation
	for _, op := range s.Run.History.Ops {
		if op.Applied == p {
			decided = op.Grant
		}
	}
	for _, g := range s.Run.History.Grants {
		if g.Granted > p {
			continue
		}
		last = max(last, s.At(g.Granted))
		if g.ID == decided || g.Belief(s.Run.History.Care).Contains(p) || g.Claim().Contains(p) {
			from = min(from, s.At(g.Granted))
		}
	}
	if from == at && last >= 0 {
		from = last
	}
	for _, f := range s.Faults() {
		if f.Start <= at && f.End >= from {
			from = min(from, f.Start)
		}
	}
	return &Span{Step: s.Fatal, Start: from, End: at}
}
