package playground

import (
	"locksim/scenarios/cause"
	"locksim/scenarios/outcome/causes"
	"locksim/scenarios/play"
)

// curveOptions keep a curve below some ten seconds in a browser, where a run takes four times as long as elsewhere.
var curveOptions = cause.Options{Continuations: 40, Steps: 8, Events: 120_000}

// Curve says when the violation of a request became inevitable, nil where there is none. step is called after each
// continuation.
func Curve(r Request, step func()) (*causes.Curve, error) {
	t, err := newTask(&r)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(t.scenario, t.lock, play.RunOptions{Seed: r.Seed, Modes: t.modes})
	if err != nil {
		return nil, err
	}
	return cause.Find(o, curveOptions, func(jobs []cause.Job) ([]cause.Answer, error) {
		answers := make([]cause.Answer, len(jobs))
		for i, j := range jobs {
			var err error
			if answers[i], err = j.PlayWith(t.scenario, t.lock, step); err != nil {
				return nil, err
			}
		}
		return answers, nil
	})
}
