package reports

import (
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// band is a fault on a lane that it hits: a stretch of time, or a moment.
type band struct {
	stretch
	Kind   string
	Text   string
	Says   string
	Y, H   int // of the strip with the text
	TextY  int
	LaneY  int // of the tint over the whole lane
	LaneH  int
	Moment bool
	row    int
}

// faultWords is what a fault is called on the lane of somebody whom it hits, and
// whether it lasts. The name is empty for what is no fault.
func faultWords(e trace.Event, lane string) (name string, lasts bool) {
	switch f := e.What.(type) {
	case trace.Pause:
		return "paused " + f.For.String(), true
	case trace.Crash:
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
	case trace.Toxic:
		return "network " + f.Name, true
	case trace.Exhaust:
		return "pool exhausted " + e.Text(), true
	case trace.ClockDrift:
		if f.PPM != 0 {
			return "clock drifts " + e.Text(), true
		}
	case trace.Reset:
		return "connection reset " + f.Conn, false
	case trace.ClockJump:
		if f.By > 0 {
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

// ends reports whether an event is the end of what another has begun.
func ends(begin, end trace.Event) bool {
	if end.Actor != trace.World || end.Peer != begin.Peer {
		return false
	}
	ok := false
	switch b := begin.What.(type) {
	case trace.Pause:
		_, ok = end.What.(trace.Resume)
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

// bands finds the faults in the trace, on each lane that they hit.
func (d *drawing) bands() []band {
	var out []band
	for i, e := range d.run.Trace.Events {
		if e.Actor != trace.World || d.hidden(e) {
			continue
		}
		switch name, lasts := faultWords(e, ""); {
		case name == "":
		case lasts:
			out = append(out, d.struck(e, d.endOf(e, i), true)...)
		default:
			out = append(out, d.struck(e, nil, false)...)
		}
	}
	d.arrange(out)
	return out
}

// endOf is the event that ends what lasts, or nil.
func (d *drawing) endOf(begin trace.Event, at int) *trace.Event {
	events := d.run.Trace.Events
	for i := at + 1; i < len(events); i++ {
		if e := &events[i]; ends(begin, *e) && !d.taken[e.N] {
			d.taken[e.N] = true
			return e
		}
	}
	return nil
}

// struck is a fault on each lane that it hits.
func (d *drawing) struck(e trace.Event, end *trace.Event, lasts bool) []band {
	s := stretch{N: e.N, T0: e.At, T1: e.At}
	if lasts {
		s.T1 = d.end
	}
	if end != nil {
		s.M, s.T1 = end.N, end.At
	}
	var out []band
	for _, name := range d.victims(e) {
		p := s
		p.Lane = name
		p.T1 = min(p.T1, d.end)
		words, _ := faultWords(e, name)
		b := band{stretch: d.scale.place(p), Kind: e.Kind(), Text: words, Moment: !lasts}
		b.Says = name + " " + b.Text + ", at " + prose.Seconds(p.T0)
		if lasts {
			b.Says = name + " " + b.Text + ", " + during(p)
		}
		out = append(out, b)
	}
	return out
}

// victims are the lanes that a fault hits: on either side, where it has two.
func (d *drawing) victims(e trace.Event) []string {
	names := trace.Parties(e)
	switch f := e.What.(type) {
	case trace.Cut:
		names = slices.Concat(f.Between, f.And)
	case trace.Toxic:
		names = slices.Concat(f.Between, f.And)
	}
	var out []string
	for _, n := range names {
		if d.lanes[n] != nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// arrange puts the bands of a lane into rows, so that no text covers another.
func (d *drawing) arrange(bands []band) {
	ends := map[string][]int64{} // of each row of a lane, in tenths of a pixel
	for i := range bands {
		b := &bands[i]
		rows := ends[b.Lane]
		from, to := d.scale.x(b.T0), max(d.scale.x(b.T1), d.scale.x(b.T0)+textRoom(b.Text))
		b.row = slices.IndexFunc(rows, func(end int64) bool { return end <= from })
		switch {
		case b.row >= 0:
			rows[b.row] = to
		case len(rows) < maxStrips:
			b.row, rows = len(rows), append(rows, to)
		default:
			b.row = maxStrips - 1
		}
		ends[b.Lane] = rows
		d.lanes[b.Lane].Strips = len(rows)
	}
}

// maxStrips bounds how high a lane may grow.
const maxStrips = 4

// textRoom is about how wide a text is, in tenths of a pixel.
func textRoom(s string) int64 { return int64(prose.Columns(s))*62 + 240 }

// settle gives the bands their places, once the lanes have theirs.
func (d *drawing) settle(bands []band) {
	for i := range bands {
		b := &bands[i]
		l := d.lanes[b.Lane]
		b.Y, b.H = l.Y+b.row*stripHeight+1, stripHeight-2
		b.TextY = b.Y + 11
		b.LaneY, b.LaneH = l.Y, l.H
	}
}
