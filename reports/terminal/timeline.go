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
		return append([]string{title, r.header()}, r.storyRows(m.Story, maxTimeline)...)
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
	return append([]string{title, r.header()}, r.storyRows(after(m.Story, d.N), maxParted)...)
}

// tell is as much of a story as there is room for.
func (r *rails) storyRows(story []play.Line, room int) []string {
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

// rails are the columns of a timeline: one for each client and node of a story.
type rails struct {
	*scene.Scene
	opt    reports.Options
	names  []string
	faults []scene.Fault
	time   int // the width of the times
	number int // the width of the step numbers
}

// The signs of a column. The first of a pair says how its owner stands to the
// lock, the second how it fares.
const (
	asks     = "?"
	holds    = "┃"
	believes = "╎"

	acts    = "●"
	paused  = "z"
	down    = "✗"
	faulted = "!"
)

// signsExplained says what the signs mean.
func signsExplained() []string {
	return []string{
		asks + " asks for the lock   " + holds + " holds it   " + believes + " believes so, after the end of its claim",
		acts + " acts   " + paused + " paused   " + down + " down   " + faulted + " under another fault",
	}
}

func newRails(m *play.ModeRun, opt reports.Options) *rails {
	s := scene.New(m)
	r := &rails{Scene: s, faults: s.Faults(), opt: opt, time: prose.Columns("time"), number: prose.Columns("step")}
	for _, name := range slices.Concat(s.Clients, s.Servers, []string{trace.Store}) {
		if name != trace.Probe && r.appears(name) {
			r.names = append(r.names, name)
		}
	}
	for _, line := range m.Story {
		r.time = max(r.time, prose.Columns(prose.Seconds(line.At)))
		r.number = max(r.number, prose.Columns(fmt.Sprint(line.N)))
	}
	return r
}

// appears says that somebody has a column: a client, and a node of which the story
// tells something.
func (r *rails) appears(name string) bool {
	return scene.IsClient(name) || slices.ContainsFunc(r.Run.Story, func(l play.Line) bool { return l.Actor == name }) ||
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
	return prose.Pad(mark, 3) + prose.Blanks(r.time-prose.Columns(time)) + time + "  " + prose.Blanks(r.number-prose.Columns(step)) + step + "  "
}

// edge is where the text of a step begins.
func (r *rails) edge() int {
	n := prose.Columns(r.left("", "", ""))
	for _, name := range r.names {
		n += r.wide(name)
	}
	return n
}

// rows is a step: one line, and more where its text has no room on one.
func (r *rails) rows(line play.Line) []string {
	mark, look := "", unstyled
	if line.Fatal {
		mark, look = ">>", styleOf(r.Run.Verdict.Label)
		if look == unstyled {
			look = bold
		}
	}
	left, actor := r.left(mark, prose.Seconds(line.At), fmt.Sprint(line.N)), line.Actor
	var rows []string
	for _, part := range prose.Fold(prose.Visible(line.Actor+" "+line.Text), max(r.opt.Width-r.edge(), reports.MinWidth/2)) {
		rows = append(rows, paint(r.opt.Colour, look, left)+r.signs(line, actor)+paint(r.opt.Colour, look, part))
		left, actor = r.left(mark, "", ""), ""
	}
	return rows
}

// signs are the columns at a step of somebody; "" for the further lines of a step.
func (r *rails) signs(line play.Line, actor string) string {
	at := checker.Pos(line.N)
	look := good
	if r.holders(at) > 1 {
		look = warning
	}
	var b strings.Builder
	for _, name := range r.names {
		stands, fares := r.lockSign(name, at), r.faultSign(name, line.N)
		if name == actor && (fares == " " || fares == faulted && !r.faultBegins(name, line.N)) {
			fares = acts
		}
		looks := look
		switch stands {
		case believes:
			looks = warning
		case asks, " ":
			looks = unstyled
		}
		b.WriteString(paint(r.opt.Colour, looks, stands) + fares + prose.Blanks(r.wide(name)-2))
	}
	return b.String()
}

// stands is how somebody stands to the lock at a step.
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

// fares is what befalls somebody at a step.
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

// strikes says that a step is the beginning of what befalls somebody.
func (r *rails) faultBegins(name string, step int) bool {
	return slices.ContainsFunc(r.faults, func(f scene.Fault) bool { return f.Lane == name && f.Step == step })
}

// leftOut stands for steps that are not shown.
func (r *rails) leftOut(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{prose.Blanks(r.edge()) + fmt.Sprintf("… %s left out", prose.Count(n, "step"))}
}
