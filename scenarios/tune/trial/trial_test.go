package trial_test

import (
	"testing"
	"time"

	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune"
	"locksim/scenarios/tune/trial"
)

func played(t *testing.T, opt tune.Options, sections int) []tunings.Played {
	t.Helper()
	opt.Reply = tune.Uniform(time.Millisecond, 5*time.Millisecond, "the world")
	opt.Backoff, opt.Contended, opt.Target = .2, 1, 1e-4
	all, err := trial.Play(opt, tune.Compute(opt), trial.Options{Sections: sections, Seed: 1,
		Latency: [2]time.Duration{time.Millisecond, 5 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		t.Log(p.Sentence())
		if !p.Agree() {
			t.Errorf("the arithmetic and the played sections disagree: %+v", p)
		}
	}
	return all
}

// Sections of a lognormal length with pauses, in the world and by the arithmetic.
func TestPlayedSectionsAgree(t *testing.T) {
	work, err := tune.Lognormal(800*time.Millisecond, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	all := played(t, tune.Options{Work: work, Pauses: tune.Rare(4*time.Second, 20)}, 300)
	if len(all) != 2 || all[0].Outlives.Count == 0 || all[1].Outlives.Count == 0 {
		t.Errorf("played were %+v", all)
	}
}
