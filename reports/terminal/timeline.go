package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// Timeline writes the story of a run with a narrow column for each client and node. At
// each step a column shows whether its client asks for the lock, holds it, or only
// believes so, and whether it is paused or down: two columns that hold at the same step
// are the violation, or the danger, that the verdict reports. The decisive step is
// marked ">>", and a grant at which another client had the lock already " >".
//
// Of the first mode that was run it shows the whole story, of each other mode the steps
// from where it diverges from the first. A long story is cut around its decisive step,
// with a notice. The signs are sufficient without colour. Errors and concurrency are as
// for [Run].
func Timeline(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(head(o, opt))
	var shown []*outcome.ModeRun
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Trace == nil {
			p.Add([]string{fmt.Sprintf("mode %s needs fencing tokens, and lock %s mints none", m.Mode, o.Lock)})
			continue
		}
		p.Add(timeline(m, shown, opt))
		shown = append(shown, m)
	}
	if len(shown) > 0 {
		p.Add(signsExplained())
	}
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

const (
	// maxTimeline bounds the steps of the first mode, maxParted those of another mode.
	maxTimeline = 200
	maxParted   = 10
)

// timeline is one run, or its steps from where it diverges from the first one. before
// are the runs shown before it.
func timeline(m *outcome.ModeRun, before []*outcome.ModeRun, opt reports.Options) []string {
	r := newRails(m, opt)
	title := fmt.Sprintf("mode %s: %s", m.Mode, paint(opt.Colour, styleOf(m.Verdict.Label), string(m.Verdict.Label)))
	if len(before) == 0 {
		return append([]string{title, r.header()}, r.storyRows(m.Story, maxTimeline)...)
	}
	first := before[0]
	d := trace.Diff(first.Trace, m.Trace)
	if d == nil {
		return []string{title + fmt.Sprintf(", the same run as mode %s, event by event", first.Mode)}
	}
	title += fmt.Sprintf(", the same run as mode %s up to step %d", first.Mode, d.N-1)
	for _, other := range before[1:] {
		if slices.Equal(other.Story, m.Story) {
			return []string{title + fmt.Sprintf(", and the same story as mode %s", other.Mode)}
		}
	}
	return append([]string{title, r.header()}, r.storyRows(after(m.Story, d.N), maxParted)...)
}

// storyRows are the rows of a story, of at most room steps, and of more only where more decide the run.
func (r *rails) storyRows(story []outcome.Line, room int) []string {
	from, to := 0, len(story)
	if to > room {
		from = scene.StartAround(story, room, r.Fatal, func(l outcome.Line) int { return l.N })
		to = from + room
	}
	var lines []string
	for _, part := range outcome.Shorten(story, func(i int) bool { return from <= i && i < to }) {
		if part.Left > 0 {
			lines = append(lines, r.leftOut(part.Left)...)
		} else {
			lines = append(lines, r.rows(*part.Line)...)
		}
	}
	return lines
}

// after are the steps from a number on.
func after(lines []outcome.Line, n int) []outcome.Line {
	for i, l := range lines {
		if l.N >= n {
			return lines[i:]
		}
	}
	return nil
}

// rails are the columns of a timeline: one for each client and node of a story.
type rails struct {
	*scene.Scene
	opt    reports.Options
	names  []string
	faults []scene.Fault
	time   int // the width of the times
	number int // the width of the step numbers
}

// The signs of a column. The first of a pair is the relation to the lock, the second
// the condition.
const (
	asks     = "?"
	holds    = "┃"
	believes = "╎"

	acts    = "●"
	paused  = "z"
	down    = "✗"
	faulted = "!"
)

func signsExplained() []string {
	return []string{
		asks + " asks for the lock   " + holds + " holds it   " + believes + " believes so, after the end of its claim",
		acts + " acts   " + paused + " paused   " + down + " down   " + faulted + " under another fault",
	}
}

func newRails(m *outcome.ModeRun, opt reports.Options) *rails {
	s := scene.New(m)
	r := &rails{Scene: s, faults: s.Faults(), opt: opt, time: prose.Columns("time"), number: prose.Columns("step")}
	for _, l := range s.Lanes() {
		if l.Kind != scene.LaneRecord && l.Name != trace.Probe && r.appears(l.Name) {
			r.names = append(r.names, l.Name)
		}
	}
	for _, line := range m.Story {
		r.time = max(r.time, prose.Columns(prose.Seconds(line.At)))
		r.number = max(r.number, prose.Columns(fmt.Sprint(line.N)))
	}
	return r
}

// appears reports whether a name has a column: a client, or a node with a step in the
// story or a fault.
func (r *rails) appears(name string) bool {
	return scene.IsClient(name) ||
		slices.ContainsFunc(r.Run.Story, func(l outcome.Line) bool { return l.Actor == name }) ||
		slices.ContainsFunc(r.faults, func(f scene.Fault) bool { return f.Lane == name })
}

// header names the columns.
func (r *rails) header() string {
	var b strings.Builder
	for _, name := range r.names {
		b.WriteString(prose.Pad(name, r.wide(name)))
	}
	return r.left("", "time", "step") + b.String() + "who and what"
}

// wide is the width of a column: two signs or the name, and a space.
func (r *rails) wide(name string) int { return max(prose.Columns(name), 2) + 1 }

func (r *rails) left(mark, time, step string) string {
	return prose.Pad(mark, 3) + prose.Blanks(r.time-prose.Columns(time)) + time + "  " +
		prose.Blanks(r.number-prose.Columns(step)) + step + "  "
}

// edge is the position at which the text of a step begins.
func (r *rails) edge() int {
	n := prose.Columns(r.left("", "", ""))
	for _, name := range r.names {
		n += r.wide(name)
	}
	return n
}

// rows are the lines of a step: more than one where the text does not fit.
func (r *rails) rows(line outcome.Line) []string {
	mark, look := "", unstyled
	if line.Fatal {
		mark, look = ">>", styleOf(r.Run.Verdict.Label)
		if look == unstyled {
			look = bold
		}
	} else if line.Shared {
		mark, look = sharedMark, warning
	}
	left, actor := r.left(mark, prose.Seconds(line.At), fmt.Sprint(line.N)), line.Actor
	var rows []string
	for _, part := range prose.Fold(prose.Visible(line.Actor+" "+line.Text),
		max(r.opt.Width-r.edge(), reports.MinWidth/2)) {
		rows = append(rows, paint(r.opt.Colour, look, left)+r.signs(line, actor)+paint(r.opt.Colour, look, part))
		left, actor = r.left(mark, "", ""), ""
	}
	return rows
}

// signs are the columns at a step. actor is "" for the further lines of a step.
func (r *rails) signs(line outcome.Line, actor string) string {
	at := checker.Pos(line.N)
	look := good
	if r.holders(at) > 1 {
		look = warning
	}
	var b strings.Builder
	for _, name := range r.names {
		relation, condition := r.lockSign(name, at), r.faultSign(name, line.N)
		if name == actor && (condition == " " || condition == faulted && !r.faultBegins(name, line.N)) {
			condition = acts
		}
		looks := look
		switch relation {
		case believes:
			looks = warning
		case asks, " ":
			looks = unstyled
		}
		b.WriteString(paint(r.opt.Colour, looks, relation) + condition + prose.Blanks(r.wide(name)-2))
	}
	return b.String()
}

// lockSign is the sign of the relation of a client to the lock at a step.
func (r *rails) lockSign(name string, at checker.Pos) string {
	h, sign := r.Run.History, " "
	for _, g := range h.Grants {
		switch {
		case g.Client != name:
		case g.Claim().Contains(at):
			return holds
		case g.Belief(h.Care).Contains(at):
			sign = believes
		case sign == " " && g.Invoked <= at && at < g.Granted:
			sign = asks
		}
	}
	for _, a := range h.Attempts {
		if a.Client == name && sign == " " && a.Invoked <= at && (a.Returned == 0 || at < a.Returned) {
			sign = asks
		}
	}
	return sign
}

// holders counts the clients that hold the lock, or believe so, at a step.
func (r *rails) holders(at checker.Pos) int {
	n := 0
	for _, c := range r.Clients {
		if s := r.lockSign(c, at); s == holds || s == believes {
			n++
		}
	}
	return n
}

// faultSign is the sign of the faults on a lane at a step.
func (r *rails) faultSign(name string, step int) string {
	sign := " "
	for _, f := range r.faults {
		if f.Lane != name || step < f.Step || f.Moment && step > f.Step || !f.Moment && f.Until > 0 && step >= f.Until {
			continue
		}
		switch f.Kind {
		case "crash":
			return down
		case "pause":
			sign = paused
		default:
			if sign == " " {
				sign = faulted
			}
		}
	}
	return sign
}

// faultBegins reports whether a fault on a lane begins at a step.
func (r *rails) faultBegins(name string, step int) bool {
	return slices.ContainsFunc(r.faults, func(f scene.Fault) bool { return f.Lane == name && f.Step == step })
}

// leftOut is a notice for steps that are not shown.
func (r *rails) leftOut(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{prose.Blanks(r.edge()) + fmt.Sprintf("… %s left out", prose.Count(n, "line"))}
}
