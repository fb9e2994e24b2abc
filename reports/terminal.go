package reports

import (
	"fmt"
	"io"

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
	p := new(prose.Page)
	p.Add(head(o, opt))
	p.Add(verdicts(o, opt))
	p.Add(reasons(o, opt))
	p.Add(story(o, opt))
	p.Add(limits(o, opt))
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

// head is the seed and what was run with it.
func head(o *play.Outcome, opt Options) []string {
	lines := []string{fmt.Sprintf("seed %d  scenario %s  lock %s  fencing %s  %s",
		o.Seed, o.Scenario.Name, o.Lock, prose.Commas(modesOf(o)), repeated(opt.Repeat))}
	if o.Scenario.Title != "" {
		lines = append(lines, prose.Fold(prose.Visible(o.Scenario.Title), opt.Width)...)
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
