package scene

import (
	"slices"
	"strings"

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
		name, lasts := faultWords(e, "")
		if name == "" {
			continue
		}
		p := Span{Step: e.N, Start: e.At, End: e.At}
		if lasts {
			p.End = s.End
			at := slices.IndexFunc(events[i+1:], func(end trace.Event) bool { return ends(e, end) && !ended[end.N] })
			if at >= 0 {
				end := events[i+1+at]
				ended[end.N] = true
				p.Until, p.End = end.N, end.At
			}
		}
		for _, victim := range s.victims(e) {
			p.Lane, p.End = victim, min(p.End, s.End)
			words, _ := faultWords(e, victim)
			f := Fault{Span: p, Kind: e.Kind(), Text: words, Moment: !lasts}
			f.Description = victim + " " + words + ", at " + prose.Seconds(p.Start)
			if lasts {
				f.Description = victim + " " + words + ", " + p.during()
			}
			out = append(out, f)
		}
	}
	return out
}

// victims are the lanes that a fault affects: those of both sides, where it has two.
func (s *Scene) victims(e trace.Event) []string {
	names := trace.Parties(e)
	switch f := e.What.(type) {
	case trace.Cut:
		names = slices.Concat(f.Between, f.And)
	case trace.Toxic:
		names = slices.Concat(f.Between, f.And)
	}
	var out []string
	for _, n := range names {
		if s.LaneKind(n) != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// faultWords is the text of a fault on a lane that it affects, and whether it lasts.
// The text is empty for an event that is not a fault.
func faultWords(e trace.Event, lane string) (name string, lasts bool) {
	switch f := e.What.(type) {
	case trace.Pause:
		return "paused " + f.For.String(), true
	case trace.Suspend:
		return "machine sleeps " + f.For.String(), true
	case trace.Terminate:
		return "asked to end within " + f.Grace.String(), false
	case trace.Crash:
		switch f.Mode {
		case trace.Exit:
			return "ended by itself", true
		case trace.Kill:
			return "killed", true
		}
		return "down " + f.Mode, true
	case trace.Cut:
		from := f.Between
		if slices.Contains(f.Between, lane) {
			from = f.And
		}
		if len(from) == 0 {
			return "cut off from everything else", true
		}
		return "cut off from " + strings.Join(from, ","), true
	case trace.Slow:
		return "slow timers late by " + f.By.String(), true
	case trace.Stall:
		return "stalled " + trace.Lasts(f.For), true
	case trace.Refuse:
		return "refuses connections " + trace.Lasts(f.For), true
	case trace.ReadOnly:
		return "read-only " + trace.Lasts(f.For), true
	case trace.ErrorReply:
		return "answers with an error " + e.Text(), true
	case trace.Toxic:
		return "network " + f.Name, true
	case trace.Exhaust:
		return "pool exhausted " + e.Text(), true
	case trace.ClockDrift:
		switch f.PPM {
		case 0:
		case -1_000_000:
			return "clock stands still", true
		default:
			return "clock drifts " + e.Text(), true
		}
	case trace.Reset:
		return "connection reset " + f.Conn, false
	case trace.ClockJump:
		switch {
		case e.At == 0 && f.By > 0:
			return "clock ahead by " + f.By.String(), false
		case e.At == 0:
			return "clock behind by " + (-f.By).String(), false
		case f.By > 0:
			return "clock jumps +" + f.By.String(), false
		}
		return "clock jumps " + f.By.String(), false
	case trace.KillWorker:
		return "worker dies", false
	case trace.Promote:
		return "promoted " + e.Text(), false
	case trace.NotPromoted:
		return "not promoted " + e.Text(), false
	case trace.Evict:
		return "evicts " + e.Text(), false
	case trace.Flush:
		return "flushed " + e.Text(), false
	}
	return "", false
}

// ends reports whether an event ends the fault that another event began.
func ends(begin, end trace.Event) bool {
	if end.Actor != trace.World || end.Peer != begin.Peer {
		return false
	}
	ok := false
	switch b := begin.What.(type) {
	case trace.Pause, trace.Suspend: // the last of both that ends has an event
		_, ok = end.What.(trace.Resume)
		_, wakes := end.What.(trace.Wake)
		ok = ok || wakes
	case trace.Crash:
		_, ok = end.What.(trace.Restart)
	case trace.Cut:
		_, ok = end.What.(trace.Heal)
	case trace.Slow:
		_, ok = end.What.(trace.SlowEnd)
	case trace.Stall:
		_, ok = end.What.(trace.StallEnd)
	case trace.Refuse:
		_, ok = end.What.(trace.RefuseEnd)
	case trace.ReadOnly:
		_, ok = end.What.(trace.ReadOnlyEnd)
	case trace.ErrorReply:
		var e trace.ErrorReplyEnd
		if e, ok = end.What.(trace.ErrorReplyEnd); ok {
			return e.Error == b.Error
		}
	case trace.Exhaust:
		_, ok = end.What.(trace.ExhaustEnd)
	case trace.ClockDrift:
		_, ok = end.What.(trace.ClockDrift)
	case trace.Toxic:
		var e trace.ToxicEnd
		if e, ok = end.What.(trace.ToxicEnd); ok {
			return e.Name == b.Name
		}
	}
	return ok
}
