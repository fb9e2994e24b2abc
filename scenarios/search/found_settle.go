package search

import (
	"fmt"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// AsStored is a failure as it is, without making it smaller once more. Errors are
// those of [play.Run].
func AsStored(l play.Lock, sc *file.Scenario, seed uint64, broken []play.Violation) (*Found, error) {
	f := &Found{Lock: l.Name, Seed: seed, Drawn: len(sc.Faults), Violations: broken}
	_, err := f.settle(l, sc)
	return f, err
}

// settle makes the run that is kept: from the text of the scenario, as whoever
// replays it will, without a fence and in the mode in which the lock is judged.
// Where chance has a hand in it, it may take several runs until one of them
// breaks the promise; ok is false where none does.
func (f *Found) settle(l play.Lock, sc *file.Scenario) (ok bool, err error) {
	for range Replays {
		o, err := playText(l, sc, f.Seed)
		if err != nil {
			return false, err
		}
		judged := judgedIn(o, l)
		broken := play.Violations(judged, l.JudgedBy())
		ok = len(f.Violations) == 0 || alike(broken, f.Violations)
		if ok {
			f.Violations = broken
		}
		if f.keep(o, judged.Modes[0]); ok {
			return true, nil
		}
	}
	return false, nil
}

// keep takes over what there is to say of the run that is kept.
func (f *Found) keep(o *play.Outcome, judged play.ModeRun) {
	f.Outcome, f.Run, f.Faults = o, play.NewRunFile(o), len(o.Scenario.Faults)
	f.Shape = play.Shape(o.Scenario, f.Violations)
	f.Story, f.Reasons = shortStory(judged.Story), nil
	for _, r := range judged.Verdict.Reasons {
		f.Reasons = append(f.Reasons, r.Text)
	}
}

// playText plays a scenario as it is read back from its own text.
func playText(l play.Lock, sc *file.Scenario, seed uint64) (*play.Outcome, error) {
	source, err := file.Format(sc)
	if err != nil {
		return nil, err
	}
	again, err := file.Parse(sc.Name+".yaml", source, play.ServerNames(l)...)
	if err != nil {
		return nil, fmt.Errorf("scenario %s, as it is stored: %w", sc.Name, err)
	}
	modes := []fence.Mode{fence.None}
	if mode := l.JudgedMode(); mode != fence.None {
		modes = append(modes, mode)
	}
	return play.Run(again, l, play.RunOptions{Seed: seed, Modes: modes})
}

// judgedIn is the outcome without the modes in which the lock is not judged.
func judgedIn(o *play.Outcome, l play.Lock) *play.Outcome {
	out := *o
	out.Modes = nil
	for _, m := range o.Modes {
		if m.Mode == l.JudgedMode() {
			out.Modes = append(out.Modes, m)
		}
	}
	return &out
}
