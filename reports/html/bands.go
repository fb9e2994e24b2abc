package html

import (
	"slices"

	"locksim/internal/prose"
	"locksim/reports/scene"
)

// band is a fault as it is drawn: a strip with its text, and a tint over the lane.
type band struct {
	scene.Fault
	place
	Y, H         int // of the strip
	TextY        int
	LaneY, LaneH int // of the tint
	row          int // of the strips of its lane
}

// bands are the faults, in rows of their lanes, so that no text covers another.
func (d *drawing) bands() []band {
	var bands []band
	ends := map[string][]int64{} // of each row of a lane, in tenths of a pixel
	for _, f := range d.Faults() {
		b := band{Fault: f, place: d.scale.place(f.Span)}
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

// textRoom is about how wide a text is, in tenths of a pixel.
func textRoom(s string) int64 { return int64(prose.Columns(s))*62 + 240 }

// stackBands gives the bands their places, once the lanes have theirs.
func (d *drawing) stackBands(bands []band) {
	for i := range bands {
		b := &bands[i]
		l := d.lanes[b.Lane]
		b.Y, b.H = l.Y+b.row*stripHeight+1, stripHeight-2
		b.TextY = b.Y + 11
		b.LaneY, b.LaneH = l.Y, l.H
	}
}
