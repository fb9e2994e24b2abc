package reports

import (
	"slices"
	"strings"

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

// spells are the kinds of events that begin something lasting, with those that
// end it.
var spells = map[string]string{
	"pause": "resume", "crash": "restart", "cut": "heal", "slow": "slow-end", "stall": "stall-end",
	"refuse": "refuse-end", "read-only": "read-only-end", "toxic": "toxic-end", "exhaust": "exhaust-end",
	"clock-drift": "clock-drift",
}

// moments are the kinds of events that strike once.
var moments = []string{"reset", "clock-jump", "kill-worker", "promote", "no-promote", "evict", "flush"}

// faultNames are the kinds in words, before their details.
var faultNames = map[string]string{
	"pause": "paused", "crash": "down", "cut": "cut off", "slow": "slow", "stall": "stalled", "refuse": "refuses connections",
	"read-only": "read-only", "toxic": "network", "exhaust": "pool exhausted", "clock-drift": "clock drifts",
	"reset": "connection reset", "clock-jump": "clock jumps", "kill-worker": "worker dies", "promote": "promoted",
	"no-promote": "not promoted", "evict": "evicts", "flush": "flushed",
}

// noDrift is what a clock's drift is when it has ended.
const noDrift = "0 ppm"

// bands finds the faults in the trace, on each lane that they hit.
func (d *drawing) bands() []band {
	var out []band
	for i, e := range d.run.Trace.Events {
		switch {
		case e.Actor != "world" || d.hidden(e) || e.Kind == "clock-drift" && e.Text == noDrift:
		case spells[e.Kind] != "":
			out = append(out, d.struck(e, d.endOf(e, i))...)
		case slices.Contains(moments, e.Kind):
			out = append(out, d.struck(e, nil)...)
		}
	}
	d.arrange(out)
	return out
}

// endOf is the event that ends a spell, or nil.
func (d *drawing) endOf(begin trace.Event, at int) *trace.Event {
	events := d.run.Trace.Events
	for i := at + 1; i < len(events); i++ {
		e := &events[i]
		if e.Actor != "world" || e.Kind != spells[begin.Kind] || e.Peer != begin.Peer || d.taken[e.N] {
			continue
		}
		if e.Kind == "toxic-end" && !strings.HasPrefix(begin.Text, e.Text+",") {
			continue
		}
		d.taken[e.N] = true
		return e
	}
	return nil
}

// struck is a fault on each lane that it hits.
func (d *drawing) struck(e trace.Event, end *trace.Event) []band {
	s := stretch{N: e.N, T0: e.At, T1: e.At}
	_, lasting := spells[e.Kind]
	if lasting {
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
		b := band{stretch: d.scale.place(p), Kind: e.Kind, Text: faultText(e, name), Moment: !lasting}
		b.Says = name + " " + b.Text + ", at " + seconds(p.T0)
		if lasting {
			b.Says = name + " " + b.Text + ", " + during(p)
		}
		out = append(out, b)
	}
	return out
}

// victims are the lanes that a fault hits: those that it names, and those that
// its description names as the other side.
func (d *drawing) victims(e trace.Event) []string {
	names := hit(e)
	if e.Kind == "cut" || e.Kind == "toxic" {
		names = append(names, othersOf(e)...)
	}
	var out []string
	for _, n := range names {
		if d.lanes[n] != nil && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// othersOf are the names on the other side of a partition or of a bad network:
// "from r0,r1, bytes: …", "…, between c0 and r0,r1 (…".
func othersOf(e trace.Event) []string {
	_, rest, found := strings.Cut(e.Text, " and ")
	if e.Kind == "cut" {
		rest, found = strings.CutPrefix(e.Text, "from ")
	}
	if !found {
		return nil
	}
	list, _, _ := strings.Cut(rest, " ")
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// faultText is a fault in a few words, as the lane's own.
func faultText(e trace.Event, name string) string {
	text := faultNames[e.Kind]
	switch e.Kind {
	case "cut":
		if slices.Contains(hit(e), name) {
			from, _, _ := strings.Cut(strings.TrimPrefix(e.Text, "from "), ", ")
			return text + " from " + from
		}
		return text + " from " + e.Peer
	case "pause":
		return text + " " + e.Text
	case "clock-jump":
		if !strings.HasPrefix(e.Text, "-") {
			return text + " +" + e.Text
		}
	case "crash", "toxic", "slow", "stall", "refuse", "read-only":
		short, _, _ := strings.Cut(e.Text, ", ")
		return strings.TrimSpace(text + " " + short)
	}
	return strings.TrimSpace(text + " " + e.Text)
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
func textRoom(s string) int64 { return int64(columns(s))*62 + 240 }

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
