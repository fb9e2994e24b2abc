// Package markdown writes reports in the Markdown of GitHub: for pull requests, issues,
// summaries of CI jobs, and files of a repository.
//
// No text of a scenario, a lock or a run becomes markup: [literal] and [mermaidText]
// escape them.
package markdown

import (
	"fmt"
	"io"
	"math"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// Run writes the report of a run for a pull request, an issue or the summary
// of a CI job: the verdict of each fencing mode, the story as a mermaid sequence
// diagram and in a table, the reasons, what the run does not prove, the schedule
// as YAML, the hashes of the traces, and last the command that repeats the run.
//
// The report is at most Options.Limit bytes long. In a longer one the diagram is cut
// first, then the story, then the rest, with a notice of what is missing; the
// verdicts and the command are never cut. No text of a scenario, a lock or a
// run becomes markup. The same outcome and options give the same bytes.
//
// Width, Colour and Inspect of the options are not used. Run returns the error of the
// options or of the writer, or an error if the shortest report does not fit. It only
// reads the outcome, and is safe for concurrent use.
func Run(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	text, err := fitted(o, opt)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// report builds a report.
type report struct {
	extent
	o        *outcome.Outcome
	opt      reports.Options
	scenes   []*scene.Scene
	drawing  []seqRow
	schedule string
}

func (m *report) String() string {
	p := new(prose.Page)
	p.Add([]string{"# " + m.title()})
	p.Add([]string{"**" + literal(scene.Headline(m.o)) + "**"})
	p.Add(m.answers())
	p.Add(m.about())
	p.Add(m.notice())
	p.Add(m.why())
	p.Add(m.verdicts())
	p.Add(m.remarks())
	p.Add(m.diagram())
	p.Add(m.cause())
	p.Add(m.reasons())
	p.Add(m.story())
	p.Add(m.limits())
	p.Add(m.yaml())
	p.Add(m.again())
	return p.String()
}

// text is a text of the run, cut to the extent.
func (m *report) text(s string) string { return literal(prose.Clip(s, m.runes)) }

func (m *report) title() string {
	return m.text(m.o.Title())
}

// answers are the outcome in a few sentences.
func (m *report) answers() []string {
	var lines []string
	for _, a := range outcome.Answers(m.o) {
		lines = append(lines, fmt.Sprintf("- **%s**: %s", a.Question, m.text(a.Text)))
	}
	return lines
}

func (m *report) about() []string {
	about := []string{
		"Scenario " + m.text(m.o.Scenario.Name), m.text(m.o.Subject()), scene.Origin(m.o),
		scene.Made(m.o, m.opt.Repeat),
	}
	if c := m.o.Scenario.Catalogue; len(c) > 0 {
		about = append(about, m.text("catalogue "+strings.Join(c, ", ")))
	}
	return []string{strings.Join(about, " · ")}
}

func (m *report) notice() []string {
	if m.cut == "" {
		return nil
	}
	return []string{fmt.Sprintf("> **Cut** to fit into %d bytes: %s. The command at the end makes the whole run again.",
		m.opt.Limit, m.cut)}
}

func (m *report) why() []string {
	if strings.TrimSpace(m.o.Scenario.Why) == "" {
		return nil
	}
	return []string{"> " + m.text(m.o.Scenario.Why)}
}

// verdicts is the table of the modes.
func (m *report) verdicts() []string {
	head := []string{"mode", "verdict", "expected", "overlaps (claim / belief)", "stale (taken / refused)", "data",
		"contended", "faults struck", "longest wait", "events", "virtual time"}
	lines := []string{rowOf(head), ruler(len(head))}
	for _, run := range m.o.Modes {
		expected := prose.Nothing
		if label, ok := m.o.Expected(run.Mode); ok {
			expected = string(label)
		}
		row := append([]string{string(run.Mode), string(run.Verdict.Label), expected}, scene.Figures(run)...)
		for i := range row {
			row[i] = literal(row[i])
		}
		row[1] = "**" + row[1] + "**"
		lines = append(lines, rowOf(row))
	}
	return lines
}

// remarks are facts that the table does not show.
func (m *report) remarks() []string {
	var lines []string
	for _, mismatch := range m.o.Mismatches() {
		lines = append(lines, "- **Unexpected**: "+literal(mismatch.String())+".")
	}
	for _, text := range scene.Remarks(m.o) {
		lines = append(lines, "- "+m.text(text))
	}
	for _, run := range m.o.Modes {
		if run.Verdict.Label == checker.NotApplicable {
			lines = append(lines, fmt.Sprintf("- Mode %s needs fencing tokens, and lock %s mints none.",
				literal(string(run.Mode)), m.text(m.o.Lock)))
		}
	}
	return lines
}

// reasons is the section with the reasons of the verdicts.
func (m *report) reasons() []string {
	var lines []string
	for _, g := range scene.Reasons(m.o) {
		lines = append(lines, "- "+literal(named(m.o, g))+":")
		for i, text := range g.Texts {
			if i == m.extent.reasons {
				lines = append(lines, fmt.Sprintf("  - … and %s", prose.Count(len(g.Texts)-i, "more reason")))
				break
			}
			lines = append(lines, "  - "+m.text(text))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"## Why", ""}, lines...)
}

// named is the modes of a group, as the heading of its reasons.
func named(o *outcome.Outcome, g scene.ReasonGroup) string {
	switch name := g.Name(o); {
	case len(g.Modes) == 1:
		return "mode " + name
	case name == "all modes":
		return name
	default:
		return "modes " + name
	}
}

// extent is how much of a run a report in Markdown shows.
type extent struct {
	rows    int // of the diagram, 0 for no diagram
	steps   int // of the story
	lines   int // of the schedule
	reasons int // of a set of modes
	runes   int // of a text
	cut     string
}

const everything = math.MaxInt

// extents are tried in turn until a report fits. The diagram is always bounded, since
// a longer one is not readable.
var extents = []extent{
	{60, everything, everything, everything, everything, ""},
	{24, everything, everything, everything, everything, "the diagram is shortened"},
	{24, 500, everything, everything, everything, "the diagram and the story are shortened"},
	{24, scene.MaxSteps, everything, everything, everything, "the diagram and the story are shortened"},
	{24, scene.MaxSteps, 200, scene.MaxReasons, 2000, "the diagram, the story, the reasons and the schedule are " +
		"shortened"},
	{24, 24, 0, 2, 400, "the schedule is left out, and the rest shortened"},
	{0, 0, 0, 1, 160, "the diagram, the story and the schedule are left out, and the rest shortened"},
}

// fitted is the longest report that fits into the limit.
func fitted(o *outcome.Outcome, opt reports.Options) (string, error) {
	m := &report{o: o, opt: opt, scenes: scene.All(o), schedule: scene.Schedule(o.Scenario)}
	m.draw()
	size := 0
	for _, m.extent = range extents {
		text := m.String()
		if size = len(text); size <= opt.Limit {
			return text, nil
		}
	}
	return "", fmt.Errorf("markdown: the report of %s takes %d bytes at its shortest, and the limit is %d: give a "+
		"larger one",
		prose.Clip(prose.Visible(o.Scenario.Name), 80), size, opt.Limit)
}
