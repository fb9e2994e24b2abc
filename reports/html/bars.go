package html

import (
	"slices"

	"locksim/reports/scene"
)

// bar is a period as it is drawn on its lane.
type bar struct {
	scene.Period
	place
	Hue   int // of the client that it belongs to
	Y, H  int
	TextY int
}

// Fits says that the text has room inside the bar.
func (b bar) Fits() bool { return b.wide >= textRoom(b.Text)-140 }

// hues are how many colours tell clients apart; names do in any case.
const hues = 6

// barHeights are how high the bars of each kind are, so that a claim lies on a belief.
var barHeights = map[scene.PeriodKind]int{scene.Wait: 4, scene.Belief: 24, scene.Claim: 16, scene.Hold: 16}

func (d *drawing) bars() []bar {
	var out []bar
	for _, p := range d.Periods() {
		middle := d.lanes[p.Lane].middle()
		b := bar{Period: p, place: d.scale.place(p.Span), Hue: max(slices.Index(d.Clients, p.Client), 0) % hues, H: barHeights[p.Kind], TextY: middle + 4}
		b.Y = middle - b.H/2
		out = append(out, b)
	}
	return out
}
