// Package terminal writes reports as text in columns, with optional colours. table.go
// has the aligned cells and the styles that all reports use.
package terminal

import (
	"fmt"
	"io"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Run writes the report of a run: its seed first, then its answers, the verdict of each
// fencing mode with the facts behind it, the reasons, the story in at most 40
// lines with the decisive step marked ">>" and each grant at which another client
// had the lock already marked " >", what the run does not prove, and last the
// command that repeats it.
//
// Run returns the error of the options or of the writer, and writes nothing if the
// options are invalid. It only reads the outcome, and is safe for concurrent use.
func Run(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(head(o, opt))
	p.Add(answers(o, opt))
	p.Add(verdicts(o, opt))
	p.Add(reasons(o, opt))
	p.Add(story(o, opt))
	p.Add(cause(o, opt))
	p.Add(limits(o, opt))
	switch {
	case opt.Replay == "":
	case o.Live != nil:
		p.Add([]string{"another run: " + opt.Replay})
	default:
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

// subject is where a run comes from, and its scenario: one that chance has drawn has no name.
func subject(origin, scenario string) string {
	if scenario == file.Drawn {
		return "drawn scenario, " + origin
	}
	return origin + "  scenario " + scenario
}

// head is the seed, scenario, lock and modes, and the title.
func head(o *outcome.Outcome, opt reports.Options) []string {
	lines := []string{fmt.Sprintf("%s  %s  fencing %s  (%s)",
		subject(scene.Origin(o), o.Scenario.Name), o.Subject(), prose.Commas(scene.Modes(o)), scene.Made(o, opt.Repeat))}
	if title := o.Title(); title != o.Scenario.Name {
		lines = append(lines, prose.Fold(prose.Visible(title), opt.Width)...)
	}
	return lines
}

// answers are the outcome in a few sentences, each after what it answers.
func answers(o *outcome.Outcome, opt reports.Options) []string {
	var lines []string
	for _, a := range outcome.Answers(o) {
		name := fmt.Sprintf("%-10s", a.Question)
		for _, line := range prose.Fold(prose.Visible(a.Text), opt.Width-len(name)) {
			lines = append(lines, name+line)
			name = strings.Repeat(" ", len(name))
		}
	}
	return lines
}

// reasons is the table of the reasons of the verdicts.
func reasons(o *outcome.Outcome, opt reports.Options) []string {
	groups := scene.Reasons(o)
	if len(groups) == 0 {
		return nil
	}
	names := 0
	for _, g := range groups {
		names = max(names, prose.Columns(g.Name(o)))
	}
	t := table{sides: []side{left, left}}
	for _, g := range groups {
		name := g.Name(o)
		for _, line := range sentences(g, opt.Width-2-names) {
			t.row(name, line)
			name = ""
		}
	}
	return append([]string{"why"}, t.lines(opt.Colour)...)
}

// sentences are the first reasons of a group, folded, with a hanging indent.
func sentences(g scene.ReasonGroup, room int) []string {
	var lines []string
	for i, text := range g.Texts {
		if i == scene.MaxReasons {
			return append(lines, fmt.Sprintf("… and %s, see --json", prose.Count(len(g.Texts)-i, "more reason")))
		}
		for j, line := range prose.Fold(prose.Visible(text), room-2) {
			if j > 0 {
				line = "  " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// limits is what the run does not prove, and how many runs it is based on.
func limits(o *outcome.Outcome, opt reports.Options) []string {
	evidence := scene.Evidence(o)
	if evidence == "" {
		return nil
	}
	var lines []string
	for _, text := range scene.Obstacles(o) {
		lines = append(lines, prose.Fold(text, opt.Width)...)
	}
	for _, text := range scene.Vacuous(o) {
		for i, line := range prose.Fold("VACUOUS: "+text, opt.Width) {
			if i == 0 {
				line = paint(opt.Colour, warning, "VACUOUS") + strings.TrimPrefix(line, "VACUOUS")
			}
			lines = append(lines, line)
		}
	}
	if miss := scene.NearestMiss(o); miss != "" {
		lines = append(lines, prose.Fold(miss, opt.Width)...)
	}
	return append(lines, prose.Fold(evidence, opt.Width)...)
}

// Replayed confirms that a stored run and its repetition, the outcome o, are equal: a
// line for each mode with the hash of its trace. Errors and
// concurrency are as for [Run].
func Replayed(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	t := table{sides: []side{left, left, left, right, right, left, left}}
	for _, m := range o.Modes {
		t.rows = append(t.rows, confirmed(m))
	}
	p := new(prose.Page)
	p.Add([]string{fmt.Sprintf("%s  %s  (%s)", subject(fmt.Sprintf("seed %d", o.Seed), o.Scenario.Name), o.Subject(),
		scene.Repeated(opt.Repeat))})
	p.Add(t.lines(opt.Colour))
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

func confirmed(m outcome.ModeRun) []cell {
	label := cell{text: string(m.Verdict.Label), style: styleOf(m.Verdict.Label)}
	if m.Verdict.Label == checker.NotApplicable {
		return []cell{{text: "replayed:"}, {text: string(m.Mode)}, label}
	}
	return []cell{
		{text: "replayed:"}, {text: string(m.Mode)}, label,
		{text: prose.Count(m.Events, "event")}, {text: prose.Seconds(m.Virtual)},
		{text: "hash " + short(m.TraceHash)}, {text: "equal"},
	}
}

func short(hash string) string { return hash[:min(len(hash), 12)] }
