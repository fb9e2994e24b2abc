package reports

import "fmt"

// The limits of a page, so that a long run does not make a dead one.
const (
	maxMessages = 4500 // of all modes together
	maxBars     = 1000 // of a mode; so many bands and marks, too
	maxSteps    = 60   // of a story
)

// room is how many messages each of some modes may draw.
func room(modes int) int { return maxMessages / max(modes, 1) }

// cut leaves of a panel what there is room for: whatever lies around the
// decisive step, or at the beginning where there is none.
func (d *drawing) cut(p *panel, messages int) {
	all := len(d.run.Trace.Events)
	if n := len(p.Messages); n > messages {
		p.Messages = around(p.Messages, messages, d.fatal, func(m message) int { return m.N })
		from, to := p.Messages[0].N, p.Messages[len(p.Messages)-1].N
		p.Cut = append(p.Cut, fmt.Sprintf("This run has %d events and %d messages. Drawn are the %d messages from step %d to step %d; the trace has them all.",
			all, n, messages, from, to))
	}
	if n := len(p.Bars); n > maxBars {
		p.Bars = around(p.Bars, maxBars, d.fatal, func(b bar) int { return b.N })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d waits, claims and beliefs %d are drawn.", n, maxBars))
	}
	if n := len(p.Bands); n > maxBars {
		p.Bands = around(p.Bands, maxBars, d.fatal, func(b band) int { return b.N })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d marks of faults on lanes %d are drawn.", n, maxBars))
	}
	if n := len(p.Marks); n > maxBars {
		p.Marks = around(p.Marks, maxBars, d.fatal, func(m mark) int { return m.N })
		p.Cut = append(p.Cut, fmt.Sprintf("Of %d decisions of the store and expiries %d are marked.", n, maxBars))
	}
	if len(p.Shades) > maxBars {
		p.Shades = around(p.Shades, maxBars, d.fatal, func(s shade) int { return s.N })
	}
}

// around keeps n elements, three quarters of them before a step. The elements
// are in the order of their steps.
func around[E any](all []E, n, step int, number func(E) int) []E {
	at := 0
	for at < len(all) && number(all[at]) <= step {
		at++
	}
	from := min(max(at-n*3/4, 0), len(all)-n)
	return all[from : from+n]
}
