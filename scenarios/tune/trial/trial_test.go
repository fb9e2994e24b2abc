package trial_test

import (
	"math"
	"strings"
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

// Sections of which far fewer outlive their lease than are played, with pauses and without, and by measured durations.
func TestRareSectionsAgree(t *testing.T) {
	rareSectionsAgree(t, 60)
}

func TestManyRareSectionsAgree(t *testing.T) {
	soak.Only(t, "it plays 12,000 sections")
	rareSectionsAgree(t, 2000)
}

func rareSectionsAgree(t *testing.T, sections int) {
	t.Helper()
	work, err := tune.Lognormal(800*time.Millisecond, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for target, pauses := range map[float64]tune.Distribution{1e-4: tune.Rare(8*time.Second, 1000),
		1e-7: tune.Rare(4*time.Second, 100), 1e-6: tune.None("none")} {
		opt := tune.Options{Work: work, Pauses: pauses, Target: target, Contended: 1, Backoff: .2,
			Reply: tune.Uniform(time.Millisecond, 5*time.Millisecond, "the world")}
		p, err := trial.Rare(opt, tune.Compute(opt), trial.Options{Sections: sections, Seed: 1,
			Latency: [2]time.Duration{time.Millisecond, 5 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(p.Sentence())
		if !p.Agree() || p.Sections != sections || p.Climbs != trial.Climbs || p.Outlives.Count < sections/2 {
			t.Errorf("target %v: %+v", target, p)
		}
		if s := p.Outlives.Share; s.Low > s.Value || s.Value > s.High || s.Value < target/2 || s.Value > target*2 {
			t.Errorf("target %v: the estimate is %+v", target, s)
		}
	}
}

// No draw is as long as a TTL that lies above what was measured, and there may be no choice.
func TestRareRefuses(t *testing.T) {
	var sample []time.Duration
	for i := range 200 {
		sample = append(sample, time.Duration(500+i)*time.Millisecond)
	}
	opt := tune.Options{Work: tune.Counted(sample, "test"), Pauses: tune.None("none"), Target: 1e-7, Contended: 1,
		Reply: tune.None("none")}
	o := trial.Options{Sections: 40, Seed: 1, Latency: [2]time.Duration{time.Millisecond, 5 * time.Millisecond}}
	_, err := trial.Rare(opt, tune.Compute(opt), o)
	if err == nil || !strings.Contains(err.Error(), "are as long as the TTL") {
		t.Errorf("beyond what was measured: %v", err)
	}
	t2 := tune.Compute(opt)
	t2.Plans[0].Choice, t2.Plans[0].Impossible = nil, "of the test"
	_, err = trial.Rare(opt, t2, o)
	if err == nil || !strings.Contains(err.Error(), "no choice without renewal: of the test") {
		t.Errorf("without a choice: %v", err)
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
