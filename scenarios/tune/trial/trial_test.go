package trial_test

import (
	"math"
	"testing"
	"time"

	"locksim/internal/soak"
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

// A lognormal with pauses beside 20,000 sections, and works whose distributions have a closed form beside 2,000 each.
func TestManyPlayedSectionsAgree(t *testing.T) {
	soak.Only(t, "it plays 20,000 sections")
	work, err := tune.Lognormal(800*time.Millisecond, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	played(t, tune.Options{Work: work, Pauses: tune.Rare(4*time.Second, 50)}, 20_000)
	for name, quantile := range map[string]func(q float64) float64{
		"uniform from 0.5 s to 1.5 s":    func(q float64) float64 { return .5 + q },
		"exponential with a mean of 1 s": func(q float64) float64 { return .05 - math.Log(1-q) },
	} {
		t.Run(name, func(t *testing.T) {
			var sample []time.Duration
			for i := range 1000 {
				sample = append(sample, time.Duration(quantile((float64(i)+.5)/1000)*float64(time.Second)))
			}
			played(t, tune.Options{Work: tune.Counted(sample, name), Pauses: tune.None("none")}, 2000)
		})
	}
}
