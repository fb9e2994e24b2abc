package terminal

import (
	"fmt"
	"io"
	"slices"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// Timeline writes the story of a run with a narrow column for each client and
// node, in which one sees at each step who asks for the lock, who holds it, who
// only believes so, and who is paused or down: two columns that hold at once are
// the fault, or the danger, that the verdict speaks of. The decisive step is
// marked ">>".
//
// Of the first mode that was run it tells all, of the others how they go on where
// they part from it. A long story is cut around its decisive step, and says so. Colour is for a terminal; the signs say the same without it. Errors and
// concurrency are as for [Run].
func Timeline(w io.Writer, o *play.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(head(o, opt))
	var told []*play.ModeRun
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Trace == nil {
			p.Add([]string{fmt.Sprintf("mode %s needs fencing tokens, and lock %s mints none", m.Mode, o.Lock)})
			continue
		}
		p.Add(timeline(m, told, opt))
		told = append(told, m)
	}
	if len(told) > 0 {
		p.Add(signsExplained())
	}
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

const (
	// maxTimeline bounds the steps of the first mode, maxParted those of another.
	maxTimeline = 200
	maxParted   = 10
)

// timeline is one run, or how it goes on where it parts from the first one. told
// are the runs before it.
func timeline(m *play.ModeRun, told []*play.ModeRun, opt reports.Options) []string {
	r := newRails(m, opt)
	title := fmt.Sprintf("mode %s: %s", m.Mode, paint(opt.Colour, styleOf(m.Verdict.Label), string(m.Verdict.Label)))
	if len(told) == 0 {
		return append([]string{title, r.header()}, r.tell(m.Story, maxTimeline)...)
	}
	first := told[0]
	d := trace.Diff(first.Trace, m.Trace)
	if d == nil {
		return []string{title + fmt.Sprintf(", the same run as mode %s, event by event", first.Mode)}
	}
	title += fmt.Sprintf(", the same run as mode %s up to step %d", first.Mode, d.N-1)
	for _, other := range told[1:] {
		if slices.Equal(other.Story, m.Story) {
			return []string{title + fmt.Sprintf(", and the same story as mode %s", other.Mode)}
		}
	}
	return append([]string{title, r.header()}, r.tell(after(m.Story, d.N), maxParted)...)
}

// tell is as much of a story as there is room for.
func (r *rails) tell(story []play.Line, room int) []string {
	shown := story
	if len(story) > room {
		shown = scene.Around(story, room, r.Fatal, func(l play.Line) int { return l.N })
	}
	before := 0
	if len(shown) > 0 {
		before = len(story) - len(after(story, shown[0].N))
	}
	lines := r.leftOut(before)
	for _, line := range shown {
		lines = append(lines, r.rows(line)...)
	}
	return append(lines, r.leftOut(len(story)-len(shown)-before)...)
}

// after are the steps from a number on.
func after(lines []play.Line, n int) []play.Line {
	for i, l := range lines {
		if l.N >= n {
			return lines[i:]
		}
	}
	return nil
}
