package terminal

import (
	"fmt"
	"io"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/play"
)

// Replayed confirms that a stored run, made again as the outcome o, came out
// equal: a line for each mode with the hash of its trace. Errors and
// concurrency are as for [Run].
func Replayed(w io.Writer, o *play.Outcome, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	t := table{sides: []side{left, left, left, right, right, left, left}}
	for _, m := range o.Modes {
		t.rows = append(t.rows, confirmed(m))
	}
	p := new(prose.Page)
	p.Add([]string{fmt.Sprintf("seed %d  scenario %s  lock %s  (%s)", o.Seed, o.Scenario.Name, o.Lock, scene.Repeated(opt.Repeat))})
	p.Add(t.lines(opt.Colour))
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

func confirmed(m play.ModeRun) []cell {
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

// short is enough of a hash to tell it from others.
func short(hash string) string { return hash[:min(len(hash), 12)] }
