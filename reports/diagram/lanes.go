package diagram

import (
	"fmt"
	"slices"

	"locksim/internal/prose"
	"locksim/reports/scene"
)

// The measures of a diagram, in pixels. The script keeps the vertical ones, and
// computes the time axis again for the width of the window.
const (
	chartWidth  = 1160
	chartGutter = 64 // for the names of the lanes
	chartRight  = 18
	axisHeight  = 42 // a row for the times, one for the names of moments
	footHeight  = 6
	stripHeight = 17 // one row of faults on a lane
	clientLane  = 46
	recordLane  = 24
	nodeLane    = 26
	laneGap     = 6
)

// Lane is a lane as it is drawn.
type Lane struct {
	scene.Lane
	Y, H   int // from the top of the diagram, without the gap
	Strips int // rows of faults
	// Baseline is the y of the line of the lane, NameY that of its name.
	Baseline, NameY int
}

// laneHeights are how high the lanes of each kind are, without their strips.
var laneHeights = map[scene.LaneKind]int{scene.LaneClient: clientLane, scene.LaneRecord: recordLane,
	scene.LaneServer: nodeLane, scene.LaneStore: nodeLane}

// stack sets the position of each lane, whose number of strips must be known, and
// returns the height of all.
func stack(lanes []*Lane) int {
	y := axisHeight
	for _, l := range lanes {
		l.Y = y
		l.H = laneHeights[l.Kind] + l.Strips*stripHeight
		l.Baseline, l.NameY = l.port(), l.middle()+4
		y += l.H + laneGap
	}
	return y + footHeight
}

// middle is the y of the middle of the bars of a lane.
func (l *Lane) middle() int {
	top := l.Y + l.Strips*stripHeight
	if l.Kind == scene.LaneClient {
		return top + 15
	}
	return top + (l.Y+l.H-top)/2
}

// port is the y at which the messages of a lane begin and end: below the bars of a
// client, on the line of a node.
func (l *Lane) port() int {
	if l.Kind == scene.LaneClient {
		return l.Y + l.H - 9
	}
	return l.middle()
}

// Bottom is the y of the lower edge.
func (l *Lane) Bottom() int { return l.Y + l.H }

// Band is a fault as it is drawn: a strip with its text, and a tint over the lane.
type Band struct {
	scene.Fault
	Position
	Y, H         int // of the strip
	TextY        int
	LaneY, LaneH int // of the tint
	row          int // of the strips of its lane
}

// Tinted says that the band colours its whole lane: a fault that lasts.
func (b Band) Tinted() bool { return !b.Moment && b.Kind != scene.KindClock }

// bands are the faults, and what they have left of clocks, distributed over the rows of their lanes so that no text
// covers another.
func (d *drawing) bands() []Band {
	var bands []Band
	ends := map[string][]int64{} // of each row of a lane, in tenths of a pixel
	for _, f := range append(d.Faults(), d.Clocks()...) {
		b := Band{Fault: f, Position: d.scale.position(f.Span)}
		rows := ends[b.Lane]
		from, to := d.scale.x(b.Start), max(d.scale.x(b.End), d.scale.x(b.Start)+textRoom(b.Text))
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
		bands = append(bands, b)
	}
	return bands
}

// maxStrips bounds how high a lane may grow.
const maxStrips = 4

// textRoom is the approximate width of a text, in tenths of a pixel.
func textRoom(s string) int64 { return int64(prose.Columns(s))*62 + 240 }

// stackBands sets the positions of the bands, after those of the lanes.
func (d *drawing) stackBands(bands []Band) {
	for i := range bands {
		b := &bands[i]
		l := d.lanes[b.Lane]
		b.Y, b.H = l.Y+b.row*stripHeight+1, stripHeight-2
		b.TextY = b.Y + 11
		b.LaneY, b.LaneH = l.Y, l.H
	}
}

// Bar is a period, or a poll, as it is drawn on its lane.
type Bar struct {
	scene.Period
	Position
	Hue   int // of the client that it belongs to
	Y, H  int
	TextY int
	Short string // in place of Text where that does not fit; "" for nothing
}

// Shown is the text that fits inside the bar, "" where none does.
func (b Bar) Shown() string {
	for _, text := range []string{b.Text, b.Short} {
		if text != "" && b.wide >= int64(prose.Columns(text))*76+100 {
			return text
		}
	}
	return ""
}

// hues is the number of colours for clients. With more clients, only the names differ.
const hues = 6

// barHeights are how high the bars of each kind are, so that a claim is visible on a belief.
var barHeights = map[scene.PeriodKind]int{scene.Wait: 4, scene.Belief: 24, scene.Claim: 16, scene.Hold: 16,
	scene.Key: 8, poll: 13}

// poll is the kind of a bar that stands for repeated requests.
const poll scene.PeriodKind = "poll"

func (d *drawing) bars() []Bar {
	var out []Bar
	for _, p := range d.Periods() {
		b := d.bar(p, d.lanes[p.Lane].middle())
		if p.Token != 0 {
			b.Short = fmt.Sprint(p.Token)
		}
		out = append(out, b)
	}
	return out
}

// keys are the lives of the lock's keys on the lanes of the servers, and their marks.
func (d *drawing) keys() ([]Bar, []Symbol) {
	lives, marks := d.KeyLives()
	bars, symbols := make([]Bar, len(lives)), make([]Symbol, len(marks))
	for i, p := range lives {
		bars[i] = d.bar(p, d.lanes[p.Lane].middle())
	}
	for i, m := range marks {
		symbols[i] = Symbol{m, d.scale.position(m.Span), d.lanes[m.Lane].middle()}
	}
	return bars, symbols
}

// Bar is a period that is drawn at a height.
func (d *drawing) bar(p scene.Period, middle int) Bar {
	high := barHeights[p.Kind]
	return Bar{Period: p, Position: d.scale.position(p.Span), Hue: max(slices.Index(d.Clients, p.Client), 0) % hues,
		H: high, Y: middle - high/2, TextY: middle + 4}
}

// polls are a bar for each poll, on the line from which its messages would begin.
func (d *drawing) polls(polls []scene.Poll) []Bar {
	var out []Bar
	for _, p := range polls {
		b := d.bar(scene.Period{Span: p.Span, Kind: poll, Client: p.Lane, Text: prose.Count(p.Requests, "request"),
			Description: p.Description}, d.lanes[p.Lane].port())
		b.Short = fmt.Sprintf("%d×", p.Requests)
		out = append(out, b)
	}
	return out
}
