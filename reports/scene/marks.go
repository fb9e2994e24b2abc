package scene

import (
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/sim/trace"
)

// Mark is an event at one moment on one lane.
type Mark struct {
	Span
	Kind        MarkKind
	Description string // a phrase with the lane and the time
}

// MarkKind says what happened at a mark.
type MarkKind string

// The kinds of marks: a decision of the store on an operation, a change of a key, and
// what a client learns about its lease.
const (
	MarkTaken   MarkKind = "taken"
	MarkStale   MarkKind = "stale" // taken although a later grant existed
	MarkRefused MarkKind = "refused"
	MarkRead    MarkKind = "read"
	MarkExpire  MarkKind = "expire"
	MarkApply   MarkKind = "apply" // a replica receives effects from its primary
	MarkUntil   MarkKind = "until" // a client is past the end of its lease
	MarkLost    MarkKind = "lost"  // a client learns that it has lost the lock
	// MarkShared is a grant at which another client had the lock already, or believed
	// that it had it.
	MarkShared MarkKind = "shared"
)

// Marks are the decisions of the store, the keys that expire, what clients learn
// about their leases, and the grants at which another client had the lock already.
func (s *Scene) Marks() []Mark {
	stale := s.staleOps()
	shared := map[int]string{} // with whom these grants are shared
	told := map[int]string{}   // what the story tells
	for _, l := range s.Run.Story {
		told[l.N] = l.What
		if l.Shared {
			shared[l.N] = l.Remark
		}
	}
	var out []Mark
	for _, e := range s.Run.Trace.Events {
		if s.LaneKind(e.Actor) == "" || s.Hidden(e) {
			continue
		}
		isStale := stale[checker.Pos(e.N)]
		kind, says := markKind(e, isStale), e.What.Words(trace.View{At: e.At, Lane: e.Actor, Stale: isStale}).Lane
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.LostSeen && told[e.N] != "" {
			kind, says = MarkLost, told[e.N]
		}
		if with := shared[e.N]; with != "" {
			kind, says = MarkShared, "is granted the lock "+with
		}
		if kind == "" {
			continue
		}
		out = append(out, Mark{Span{Step: e.N, Start: e.At, End: e.At, Lane: e.Actor}, kind,
			fmt.Sprintf("%s %s, at %s", e.Actor, says, prose.Seconds(e.At))})
	}
	return append(out, s.answers()...)
}

// answers are what a store under test has answered, where its clients learn of it.
func (s *Scene) answers() (out []Mark) {
	if s.Run.History.Fence == "" {
		return nil
	}
	for _, o := range s.Run.History.Ops {
		kind, says := MarkTaken, "stored"
		switch {
		case o.Returned == 0:
			continue
		case o.Outcome == checker.OutcomeRefused:
			kind, says = MarkRefused, "refused"
		case o.Outcome != checker.OutcomeOK:
			continue
		case o.Kind == checker.Read:
			kind, says = MarkRead, "answered"
		case int(o.Returned) == s.Fatal:
			kind = MarkStale
		}
		at := s.At(o.Returned)
		out = append(out, Mark{Span{Step: int(o.Returned), Start: at, End: at, Lane: FenceLane}, kind,
			fmt.Sprintf("%s of %s, with token %d, is %s, at %s", o.ID, o.Client, o.Token, says, prose.Seconds(at))})
	}
	return out
}

// markKind is the kind of the mark of an event, "" for an event without a mark.
func markKind(e trace.Event, stale bool) MarkKind {
	switch m := e.What.(type) {
	case trace.Decision:
		switch {
		case m.Refused != "":
			return MarkRefused
		case !m.Write:
			return MarkRead
		case stale:
			return MarkStale
		}
		return MarkTaken
	case trace.Expire:
		return MarkExpire
	case trace.Apply:
		return MarkApply
	case trace.Mark:
		if m.Step == trace.Until {
			return MarkUntil
		}
	}
	return ""
}

// staleOps are the steps at which the store decided about an operation although
// a later grant existed by then.
func (s *Scene) staleOps() map[checker.Pos]bool {
	h := s.Run.History
	next := successors(h)
	stale := map[checker.Pos]bool{}
	for _, op := range h.Ops {
		if later := next[op.Grant]; later > 0 && later < op.Applied {
			stale[op.Applied] = true
		}
	}
	return stale
}

// successors are, for each grant, the position of the next grant, which makes it
// stale.
func successors(h checker.History) map[int]checker.Pos {
	grants := byGranted(h)
	next := map[int]checker.Pos{}
	for i, a := range grants {
		for _, b := range grants[i+1:] {
			if mustExclude(h, a, b) {
				next[a.ID] = b.Granted
				break
			}
		}
	}
	return next
}
