package tune_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func options(work tune.Distribution) tune.Options {
	return tune.Options{Work: work, Reply: tune.None("none"), Pauses: tune.None("none"), Contended: 1, Target: 1e-2}
}

// A sample of a distribution whose answer is known gives an interval that has the answer in 95 of 100 samples.
func TestIntervalsHaveTheKnownAnswer(t *testing.T) {
	laws := map[string]struct {
		draw  func(r *rand.Rand) float64
		above func(x float64) float64
	}{
		"constant": {
			func(*rand.Rand) float64 { return 1 },
			func(x float64) float64 {
				if x < 1 {
					return 1
				}
				return 0
			},
		},
		"uniform from 0.5 s to 1.5 s": {
			func(r *rand.Rand) float64 { return .5 + r.Float64() },
			func(x float64) float64 { return min(max(1.5-x, 0), 1) },
		},
		"exponential with a mean of 1 s": {
			func(r *rand.Rand) float64 { return r.ExpFloat64() },
			func(x float64) float64 { return math.Exp(-x) },
		},
		"lognormal with a median of 1 s": {
			func(r *rand.Rand) float64 { return math.Exp(.5 * r.NormFloat64()) },
			func(x float64) float64 { return math.Erfc(math.Log(x)/.5/math.Sqrt2) / 2 },
		},
	}
	for name, law := range laws {
		for _, ttl := range []float64{.7, 1, 1.3, 2, 3} {
			const samples = 200
			inside := 0
			for i := range samples {
				r := rand.New(rand.NewPCG(uint64(i), 61))
				var sample []time.Duration
				for range 500 {
					sample = append(sample, max(seconds(law.draw(r)), 1))
				}
				opt := options(tune.Counted(sample, "drawn"))
				opt.Contended = 0
				p := opt.At(tunings.Never, ttl)
				if want := law.above(ttl); p.Outlives.Low <= want && want <= p.Outlives.High {
					inside++
				}
			}
			if inside < samples*90/100 {
				t.Errorf("%s, TTL %v s: %d of %d intervals have the answer %v", name, ttl, inside, samples, law.above(ttl))
			}
		}
	}
}

// A lognormal through two quantiles has its closed form, and pauses and the delay of a reply add to the work.
func TestClosedForms(t *testing.T) {
	work, err := tune.Lognormal(time.Second, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	opt := options(work)
	near("above P50", opt.At(tunings.Never, 1).Outlives.Value, .5)
	near("above P99", opt.At(tunings.Never, 3).Outlives.Value, .01)
	opt.Pauses = tune.Rare(2*time.Second, 10)
	near("with pauses", opt.At(tunings.Never, 3).Outlives.Value, .9*.01+.1*.5)
	opt.Margin = 1
	near("with a margin", opt.At(tunings.Never, 4).Outlives.Value, .9*.01+.1*.5)
	opt.Reply = tune.Uniform(seconds(.5), seconds(.5), "constant")
	near("with a reply", opt.At(tunings.Never, 4.5).Outlives.Value, .9*.01+.1*.5)

	// Renewed each half of 10 s, work of 5 s, a pause of 8 s in one section of four: too long from an age of 2 s on.
	opt = options(tune.Uniform(5*time.Second, 5*time.Second, "constant"))
	opt.Pauses = tune.Rare(8*time.Second, 4)
	near("renewed each half", opt.At(tunings.Half, 10).Outlives.Value, .25*3/5)
	near("renewed each tenth", opt.At(tunings.Tenth, 10).Outlives.Value, 0)
	near("renewed, and a pause of a lease", opt.At(tunings.Tenth, 8).Outlives.Value, .25)
}

// A holder that gives a lease up a tenth of the TTL before its end lets it run out, unless its work ends before that.
func TestGivesUp(t *testing.T) {
	for _, c := range []struct {
		work           time.Duration
		givesUp, share float64
	}{
		{5 * time.Second, 0, .25 * 3 / 5},          // from an age of 2 s on, a pause of 8 s is as long as the lease
		{5 * time.Second, .1, .25 * 4 / 5},         // from an age of 1 s on, it is as long as a holder renews
		{1500 * time.Millisecond, .1, 0},           // the work ends 9.5 s after the last renewal, and the lease after 10 s
		{2500 * time.Millisecond, .1, .25 * 3 / 5}, // the work ends 10.5 s after it
	} {
		opt := options(tune.Uniform(c.work, c.work, "constant"))
		opt.Pauses, opt.GivesUp = tune.Rare(8*time.Second, 4), c.givesUp
		if got := opt.At(tunings.Half, 10).Outlives.Value; math.Abs(got-c.share) > .01 {
			t.Errorf("work of %v, given up a share of %v before the end: %v, want %v", c.work, c.givesUp, got, c.share)
		}
	}
}

// What goes wrong is ordered: a section that acts beside another one has outlived its lease, and a fence only helps.
func TestCurvesAreOrdered(t *testing.T) {
	work, err := tune.Lognormal(200*time.Millisecond, 900*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	opt := options(work)
	opt.Pauses, opt.Backoff, opt.Contended = tune.Rare(3*time.Second, 50), .2, .5
	for _, plan := range tune.Compute(opt).Plans {
		if len(plan.Curve) < 20 {
			t.Errorf("%s: the curve has %d points", plan.Renewal, len(plan.Curve))
		}
		last := 1.
		for _, p := range plan.Curve {
			if p.Outlives.Value > last+1e-12 {
				t.Errorf("%s: a TTL of %v s is worse than a shorter one: %v, %v", plan.Renewal, p.TTLSeconds,
					p.Outlives.Value, last)
			}
			last = p.Outlives.Value
			if p.Twice.Value > p.Outlives.Value*opt.Contended+1e-3 || p.LostCheck.Value > p.LostUnfenced.Value ||
				p.LostSeal.Value != 0 {
				t.Errorf("%s, TTL %v s: out of order: %+v", plan.Renewal, p.TTLSeconds, p)
			}
			if p.BlockedMeanSeconds > p.BlockedWorstSeconds || p.BlockedMeanSeconds <= 0 {
				t.Errorf("%s, TTL %v s: a crash blocks %v s at worst, %v s on average", plan.Renewal, p.TTLSeconds,
					p.BlockedWorstSeconds, p.BlockedMeanSeconds)
			}
		}
		if plan.Choice == nil || plan.Choice.Outlives.Value > opt.Target {
			t.Errorf("%s: chosen was %+v (%s)", plan.Renewal, plan.Choice, plan.Impossible)
		}
	}
}

// What is longer than all that was measured is marked, and not said to be 0.
func TestBeyondWhatWasMeasured(t *testing.T) {
	var sample []time.Duration
	for i := range 200 {
		sample = append(sample, time.Duration(100+i)*time.Millisecond)
	}
	opt := options(tune.Counted(sample, "test"))
	opt.Target = 1e-6
	for _, p := range tune.Compute(opt).Plans[0].Curve {
		if beyond := p.TTLSeconds > .299; p.Extrapolated != beyond || p.Outlives.Value <= 0 && p.TTLSeconds < .5 {
			t.Errorf("TTL %v s: extrapolated %v, share %v", p.TTLSeconds, p.Extrapolated, p.Outlives.Value)
		}
	}
	if c := tune.Compute(opt).Plans[0].Choice; c == nil || !c.Extrapolated || c.Outlives.High < .01 {
		t.Errorf("one in a million of 200 durations: %+v", c)
	}
}

// Many distinct pauses are counted in groups, which never makes a share smaller.
func TestManyPauses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 61))
	var all []time.Duration
	for range 20_000 {
		all = append(all, seconds(.01*math.Exp(1.5*r.NormFloat64())))
	}
	opt := options(tune.Uniform(time.Second, time.Second, "constant"))
	opt.Pauses = tune.Counted(all, "drawn")
	for _, ttl := range []float64{1.02, 1.1, 1.3} {
		late := seconds(ttl - 1)
		count := 0
		for _, d := range all {
			if d > late {
				count++
			}
		}
		exact := float64(count) / float64(len(all))
		if got := opt.At(tunings.Never, ttl).Outlives.Value; got < exact-1e-9 || got > exact*1.05 {
			t.Errorf("TTL %v s: %v, counted %v", ttl, got, exact)
		}
	}
	began := time.Now()
	tune.Compute(opt)
	t.Logf("computed in %v", time.Since(began))
}

func TestImpossible(t *testing.T) {
	opt := options(tune.Uniform(time.Second, time.Second, "constant"))
	for _, p := range tune.Compute(opt).Plans {
		if p.Renewal != tunings.Never && (p.Choice != nil || p.Impossible == "") {
			t.Errorf("without pauses a TTL was chosen: %+v", p.Choice)
		}
	}
	if _, err := tune.Lognormal(time.Second, time.Millisecond); err == nil {
		t.Error("a P99 below the median was taken")
	}
}
