package html

import (
	"fmt"

	"locksim/reports/scene"
)

// The limits of a page, so that a long run does not make a dead one.
const (
	maxMessages = 4500 // of all modes together
	maxBars     = 1000 // of a mode; so many bands and marks, too
)

// room is how many messages each of some modes may draw.
func room(modes int) int { return maxMessages / max(modes, 1) }

// cut leaves of a panel what there is room for: whatever lies around the
// decisive step, or at the beginning where there is none.
func (d *drawing) cut(p *panel, messages int) {
	all := len(d.Run.Trace.Events)
	if n := len(p.Messages); n > messages {
		p.Messages = scene.Around(p.Messages, messages, d.Fatal, func(m arrow) int { return m.Step })
		from, to := p.Messages[0].Step, p.Messages[len(p.Messages)-1].Step
		p.Cut = append(p.Cut, fmt.Sprintf("This run has %d events and %d messages. Drawn are the %d messages from step %d to step %d; the trace has them all.",
			all, n, messages, from, to))
	}
	if n := len(p.Bars); n > maxBars {
		p.Bars = scene.Around(p.Bars, maxBars, d.Fatal, func(b bar) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d waits, claims and beliefs %d are drawn.", n, maxBars))
	}
	if n := len(p.Bands); n > maxBars {
		p.Bands = scene.Around(p.Bands, maxBars, d.Fatal, func(b band) int { return b.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d marks of faults on lanes %d are drawn.", n, maxBars))
	}
	if n := len(p.Marks); n > maxBars {
		p.Marks = scene.Around(p.Marks, maxBars, d.Fatal, func(m symbol) int { return m.Step })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d decisions of the store and expiries %d are marked.", n, maxBars))
	}
	if len(p.Shades) > maxBars {
		p.Shades = scene.Around(p.Shades, maxBars, d.Fatal, func(s shade) int { return s.Step })
	}
}
