package cause_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/cause"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/causes"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// find plays a scenario without a fence, and measures its violation in this process.
func find(t *testing.T, source string, opt cause.Options) (*outcome.Outcome, *causes.Curve) {
	t.Helper()
	o := run(t, source)
	c, err := cause.Find(o, opt, here)
	if err != nil {
		t.Fatal(err)
	}
	return o, c
}

func run(t *testing.T, source string) *outcome.Outcome {
	t.Helper()
	sc, err := file.Parse("test.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find("single", nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// here plays jobs in this process, the last first.
func here(jobs []cause.Job) ([]cause.Answer, error) {
	out := make([]cause.Answer, len(jobs))
	for i := len(jobs) - 1; i >= 0; i-- {
		var err error
		if out[i], err = jobs[i].Play(nil, func() {}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Two clients that each work for 4 s under a lease of 1 s, from the same instant on, lose an update whatever is drawn.
func TestAlways(t *testing.T) {
	_, c := find(t, `
name: always
world: {redis: 1, clients: 2, latency: 1ms..2ms}
lock: {kind: single, ttl: 1s, backoff: 50ms..50ms}
workload: {rounds: 1, hold: 4s, stagger: 10ms}
`, cause.Options{Continuations: 20, Steps: 4})
	if c == nil || len(c.Points) != 5 {
		t.Fatalf("got %+v, want a cause of 5 points", c)
	}
	for _, p := range c.Points {
		if p.Bad != p.Runs || p.Runs != 20 {
			t.Errorf("after step %d, %d of %d continuations ended badly, want all of 20", p.Step, p.Bad, p.Runs)
		}
	}
	if c.Inevitable == nil || *c.Inevitable != 0 || c.From != c.To ||
		!strings.HasPrefix(c.Says, "From the start, all 20") {
		t.Errorf("%v, %d to %d: %s", c.Inevitable, c.From, c.To, c.Says)
	}
}

// onePause is a run that one pause breaks: c0 works for 4 s, once, under a lease of 10 s, and c1 wants the lock all the
// time. The pause takes 15 s at least where it is drawn anew, so that the lease ends in it. It does harm if, and only
// if, it strikes between the read of c0, 9 ms after the start, and its write 4 s later, or not much before: while c0
// waits for the answers to its requests, for some 8 ms. Its instant is drawn evenly up to the end of the work, after
// 34.014 s. So 4.01 of 34.01 continuations end badly, 11.8 %, until it has struck, and all of them afterwards.
const onePause = `
name: one-pause
world: {redis: 1, clients: 2, latency: 1ms..1ms}
lock: {kind: single, ttl: 10s, backoff: 50ms..50ms}
workload: {rounds: 1, hold: 4s, stagger: 100ms}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 30s}
`

func TestOnePause(t *testing.T) {
	_, c := find(t, onePause, cause.Options{Continuations: 100, Steps: 4})
	const struck, want = 18, 4.01 / 34.01
	for _, p := range c.Points {
		switch {
		case p.Step >= struck && p.Bad != p.Runs:
			t.Errorf("the pause has struck after step %d, and only %d of %d continuations ended badly", p.Step, p.Bad, p.Runs)
		case p.Step < struck && (p.Low > want || p.High < want):
			t.Errorf("after step %d, %d of %d continuations ended badly: the band is %v to %v, want %v in it", p.Step, p.Bad,
				p.Runs, p.Low, p.High, want)
		}
	}
	if c.To != struck || c.From != struck-1 || c.Inevitable == nil || *c.Inevitable != struck {
		t.Errorf("it rose from step %d to %d and was certain from %v on, want %d, %d and %[5]d", c.From, c.To, c.Inevitable,
			struck-1, struck)
	}
	if !strings.Contains(c.Says, "after step 18 (c0 PAUSED for 30s)") ||
		!strings.Contains(c.Says, "all 100 continuations did") {
		t.Error(c.Says)
	}
}

// The answer does not depend on the order of the jobs, nor on the time.
func TestSameAgain(t *testing.T) {
	opt := cause.Options{Continuations: 20, Steps: 4}
	o, one := find(t, onePause, opt)
	again, err := cause.Find(o, opt, func(jobs []cause.Job) ([]cause.Answer, error) {
		var out []cause.Answer
		for _, j := range jobs {
			a, err := j.Play(nil, func() {})
			if err != nil {
				return nil, err
			}
			out = append(out, a)
		}
		return out, nil
	})
	if err != nil || !reflect.DeepEqual(one, again) {
		t.Errorf("%v: got %+v, then %+v", err, one, again)
	}
}

// A run that breaks nothing has no cause, and plays nothing.
func TestNothingBroken(t *testing.T) {
	o := run(t, strings.Replace(onePause, "for: 30s", "for: 1s", 1))
	c, err := cause.Find(o, cause.Options{}, func([]cause.Job) ([]cause.Answer, error) {
		return nil,
			errors.New("it plays")
	})
	if c != nil || err != nil {
		t.Errorf("got %+v, %v", c, err)
	}
}

// The work is bounded by events: a long run has fewer continuations, and then fewer steps.
func TestBound(t *testing.T) {
	o := run(t, onePause)
	for _, bound := range []int{1, 200_000, 1_000_000, 100_000_000} {
		runs, steps := 0, map[int]bool{}
		_, err := cause.Find(o, cause.Options{Events: bound}, func(jobs []cause.Job) ([]cause.Answer, error) {
			out := make([]cause.Answer, len(jobs))
			for i, j := range jobs {
				runs += j.Runs
				steps[j.Step] = true
				out[i] = cause.Answer{Runs: j.Runs, Bad: j.Runs * min(j.Step, 1), Events: j.Runs * o.Modes[0].Events}
			}
			return out, nil
		})
		least := 20 * (4 + 1 + 8) // of any run
		if most := max(bound/o.Modes[0].Events, least); err != nil || runs > most || len(steps) < 5 {
			t.Errorf("a bound of %d events: %d continuations of %d steps, %v, want at most %d", bound, runs, len(steps), err,
				most)
		}
	}
}
