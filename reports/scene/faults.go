package scene

import (
	"slices"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// Fault is a fault on a lane that it affects: a span of time, or a moment.
type Fault struct {
	Span
	Kind        string // of the event that began it
	Text        string
	Description string // a phrase with the lane and the time
	Moment      bool
}

// Faults finds the faults in the trace, one for each lane that a fault affects.
func (s *Scene) Faults() []Fault {
	var out []Fault
	events := s.Run.Trace.Events
	ended := map[int]bool{} // the ends that belong to a fault
	for i, e := range events {
		if e.Actor != trace.World || s.Hidden(e) {
			continue
		}
		words := onLane(e, e.Actor)
		if words.Lane == "" {
			continue
		}
		lasts := len(words.EndedBy) > 0
		p := Span{Step: e.N, Start: e.At, End: e.At}
		if lasts {
			p.End = s.End
			at := slices.IndexFunc(events[i+1:], func(end trace.Event) bool { return ends(end, words, e.Peer) && !ended[end.N] })
			if at >= 0 {
				end := events[i+1+at]
				ended[end.N] = true
				p.Until, p.End = end.N, end.At
			}
		}
		for _, victim := range s.victims(e) {
			p.Lane, p.End = victim, min(p.End, s.End)
			text := onLane(e, victim).Lane
			f := Fault{Span: p, Kind: e.Kind(), Text: text, Moment: !lasts}
			f.Description = victim + " " + text + ", at " + prose.Seconds(p.Start)
			if lasts {
				f.Description = victim + " " + text + ", " + p.during()
			}
			out = append(out, f)
		}
	}
	return out
}

// victims are the lanes that a fault affects.
func (s *Scene) victims(e trace.Event) []string {
	var out []string
	for _, n := range trace.Struck(e) {
		if s.LaneKind(n) != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// onLane are the words of an event for a lane.
func onLane(e trace.Event, lane string) trace.Words {
	return e.What.Words(trace.View{At: e.At, Lane: lane})
}

func ends(e trace.Event, fault trace.Words, peer string) bool {
	return e.Actor == trace.World && e.Peer == peer && slices.Contains(fault.EndedBy, e.Kind()) &&
		onLane(e, e.Actor).Name == fault.Name
}
