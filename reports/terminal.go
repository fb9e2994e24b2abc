package reports

import (
	"fmt"
	"io"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Terminal writes the report of a run: its seed first, then the verdict of each
// fencing mode with the facts behind it, the reasons, the story in at most 40
// lines with the decisive step marked ">>", what the run does not prove, and
// last the command that makes it again.
//
// The error is that of the options or of the writer; nothing is written when
// the options make no sense. Terminal only reads the outcome, and is safe for
// concurrent use.
func Terminal(w io.Writer, o *play.Outcome, opt Options) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := &page{opt: opt}
	p.part(head(o, opt))
	p.part(verdicts(o, opt))
	p.part(reasons(o, opt))
	p.part(story(o, opt))
	p.part(limits(o, opt))
	if opt.Replay != "" {
		p.part([]string{"replay: " + opt.Replay})
	}
	return p.write(w)
}

// head is the seed and what was run with it.
func head(o *play.Outcome, opt Options) []string {
	lines := []string{fmt.Sprintf("seed %d  scenario %s  lock %s  fencing %s  %s",
		o.Seed, o.Scenario.Name, o.Lock, prose.Commas(modesOf(o)), repeated(opt.Repeat))}
	if o.Scenario.Title != "" {
		lines = append(lines, fold(visible(o.Scenario.Title), opt.Width)...)
	}
	return lines
}

func repeated(r play.Repeat) string {
	if r == play.Twice {
		return "(each run made twice, equal)"
	}
	return "(each run made once)"
}

func modesOf(o *play.Outcome) []fence.Mode {
	var modes []fence.Mode
	for _, m := range o.Modes {
		modes = append(modes, m.Mode)
	}
	return modes
}

// page gathers the parts of a report, with an empty line between them.
type page struct {
	opt Options
	b   strings.Builder
}

func (p *page) part(lines []string) {
	if len(lines) == 0 {
		return
	}
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	for _, line := range lines {
		p.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (p *page) write(w io.Writer) error {
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
