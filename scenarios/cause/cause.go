// Package cause finds when a violation became inevitable: it plays continuations of its run from many steps on, and
// counts how many of them end as badly.
package cause

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/causes"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// Options bound the work. What is played depends only on them and on the run, never on the time that it takes.
type Options struct {
	// Continuations is the number of continuations of each step. Default 200.
	Continuations int
	// Steps is the number of steps at equal distances. Default 20. The steepest rise between two of them is then halved
	// until its two steps are neighbours.
	Steps int
	// Events is the number of events that all continuations together may have. Each is counted as long as the run itself
	// for planning, and as long as it was for going on with halving. A run of many events has fewer continuations, down to
	// 20, and then fewer steps, down to 4. Default 4 million.
	Events int
}

// The fewest continuations of a step, the fewest steps, and the most times that a rise is halved.
const (
	leastContinuations = 20
	leastSteps         = 4
	mostHalvings       = 8
)

// Runs is how many continuations a run of so many events has at most.
func (o Options) Runs(events int) int {
	o = o.planned(events)
	return o.Continuations * (o.Steps + 1 + mostHalvings)
}

// planned are the options with their defaults, within the bound for a run of so many events.
func (o Options) planned(events int) Options {
	if o.Continuations <= 0 {
		o.Continuations = 200
	}
	if o.Steps <= 0 {
		o.Steps = 20
	}
	if o.Events <= 0 {
		o.Events = 4_000_000
	}
	runs := o.Events / max(events, 1)
	o.Continuations = min(o.Continuations, max(runs/(o.Steps+1+mostHalvings), leastContinuations))
	o.Steps = min(o.Steps, max(runs/o.Continuations-1-mostHalvings, leastSteps))
	return o
}

// Here plays the jobs of [Find] in this process, one after the other, with a scenario and a lock that are at hand.
func Here(sc *file.Scenario, l subject.Lock) func([]Job) ([]Answer, error) {
	return func(jobs []Job) ([]Answer, error) {
		answers := make([]Answer, len(jobs))
		for i, j := range jobs {
			var err error
			if answers[i], err = j.PlayWith(sc, l, func() {}); err != nil {
				return nil, err
			}
		}
		return answers, nil
	}
}

// jobSize is how many continuations a job has at most.
const jobSize = 50

// Job is some continuations of a run from one step on. It is a value that can be sent to another process.
type Job struct {
	// File and Source are those of the scenario.
	File   string        `json:"file"`
	Source string        `json:"source"`
	Lock   string        `json:"lock"`
	Seed   uint64        `json:"seed"`
	Mode   fence.Mode    `json:"mode"`
	Label  checker.Label `json:"label"`
	Step   int           `json:"step"`
	Until  time.Duration `json:"until"`
	Struck []bool        `json:"struck"`
	// First is the number of the first continuation of this step, and Runs how many there are.
	First int `json:"first"`
	Runs  int `json:"runs"`
}

// Answer counts the continuations of a job.
type Answer struct {
	// Runs were played to their end, Bad of them ended badly; Failed could not be played.
	Runs   int `json:"runs"`
	Bad    int `json:"bad"`
	Failed int `json:"failed"`
	// Events are those of all of them.
	Events int `json:"events"`
}

// Play plays the continuations, and calls step after each. extra are locks that do not come with locksim. A
// continuation that cannot be played is counted. Errors are those of [file.Parse] and [redislocks.Find], and a
// [*play.Frozen], after which the process must exit.
func (j Job) Play(extra []subject.Lock, step func()) (Answer, error) {
	l, err := redislocks.Find(j.Lock, extra) // first, since it may bring the servers of the scenario along
	if err != nil {
		return Answer{}, err
	}
	sc, err := file.Parse(j.File, []byte(j.Source), subject.ServerNames(extra...)...)
	if err != nil {
		return Answer{}, err
	}
	return j.PlayWith(sc, l, step)
}

// PlayWith is [Job.Play] for a scenario and a lock that are at hand.
func (j Job) PlayWith(sc *file.Scenario, l subject.Lock, step func()) (Answer, error) {
	var a Answer
	for n := range j.Runs {
		f := &play.Fork{Step: j.Step, Seed: j.seed(j.First + n), Until: j.Until, Struck: j.Struck}
		o, err := play.Run(sc, l, play.RunOptions{Seed: j.Seed, Modes: []fence.Mode{j.Mode}, Alone: true, Bare: true,
			Fork: f})
		if frozen, ok := errors.AsType[*play.Frozen](err); ok {
			return a, frozen
		}
		if err != nil {
			a.Failed++
		} else {
			m := &o.Modes[0]
			a.Runs, a.Events = a.Runs+1, a.Events+m.Events
			if m.Harmed() && m.Verdict.Label.Severity() >= j.Label.Severity() {
				a.Bad++
			}
		}
		step()
	}
	return a, nil
}

// seed is that of a continuation. Those of two steps have nothing in common.
func (j Job) seed(n int) uint64 { return rand.NewPCG(j.Seed, uint64(j.Step)<<32|uint64(n)).Uint64() }

// Find measures the most severe violation of an outcome, of several modes in the first. It is nil, without an error, if
// no run did harm. do plays jobs, in any order and at the same time, and returns their answers in the order of the
// jobs; its errors are those of Find, too. A run on real servers, and one in which the program ends, have no
// continuations: it is nil for them.
func Find(o *outcome.Outcome, opt Options, do func([]Job) ([]Answer, error)) (*causes.Curve, error) {
	m := worst(o)
	if m == nil {
		return nil, nil
	}
	opt = opt.planned(m.Events)
	last := lastStep(m)
	f := &finder{opt: opt, run: m, do: do, job: Job{File: o.Scenario.File, Source: string(o.Scenario.Source), Lock: o.Lock,
		Seed: o.Seed, Mode: m.Mode,
		Label: m.Verdict.Label, Until: endOfWork(m), Struck: slices.Clone(m.FaultsFired)}}
	f.cause = causes.Curve{Mode: m.Mode, Label: m.Verdict.Label}
	var steps []int
	for i := range opt.Steps + 1 {
		steps = append(steps, last*i/opt.Steps)
	}
	if err := f.measure(slices.Compact(steps)); err != nil {
		return nil, err
	}
	for range mostHalvings {
		i := f.cause.Steepest()
		if i == 0 || f.events >= opt.Events {
			break
		}
		from, to := f.cause.Points[i-1].Step, f.cause.Points[i].Step
		if to-from < 2 {
			break
		}
		if err := f.measure([]int{(from + to) / 2}); err != nil {
			return nil, err
		}
	}
	f.cause.Conclude(f.what)
	return &f.cause, nil
}

// finder is the state of one Find.
type finder struct {
	opt    Options
	run    *outcome.ModeRun
	do     func([]Job) ([]Answer, error)
	job    Job // without its step and its runs
	cause  causes.Curve
	events int // of all continuations so far
}

// measure adds points at some steps.
func (f *finder) measure(steps []int) error {
	var jobs []Job
	for _, step := range steps {
		for first := 0; first < f.opt.Continuations; first += jobSize {
			j := f.job
			j.Step, j.First, j.Runs = step, first, min(jobSize, f.opt.Continuations-first)
			jobs = append(jobs, j)
		}
	}
	answers, err := f.do(jobs)
	if err != nil {
		return err
	}
	if len(answers) != len(jobs) {
		return fmt.Errorf("cause: %d jobs have %d answers", len(jobs), len(answers))
	}
	of := map[int]Answer{}
	for i, a := range answers {
		sum := of[jobs[i].Step]
		of[jobs[i].Step] = Answer{sum.Runs + a.Runs, sum.Bad + a.Bad, sum.Failed + a.Failed, sum.Events + a.Events}
	}
	for _, step := range steps {
		a := of[step]
		f.events += a.Events
		f.cause.Undrawn += a.Failed
		if a.Runs > 0 {
			f.cause.Points = append(f.cause.Points, causes.NewPoint(step, f.at(step), a.Runs, a.Bad))
		}
	}
	slices.SortFunc(f.cause.Points, func(a, b causes.Point) int { return a.Step - b.Step })
	return nil
}

func (f *finder) at(step int) time.Duration {
	if step == 0 {
		return 0
	}
	return f.run.Trace.Events[step-1].At
}

// what is the last line of the story between two steps, or at the instant of the second, up to which a continuation is
// equal; a decisive one, or one at which two clients shared the lock, or the world struck, rather than another.
func (f *finder) what(from, to int) string {
	for to > 0 && to < f.run.Trace.Len() && f.at(to+1) == f.at(to) {
		to++
	}
	text, weight := "", -1
	for _, l := range f.run.Story {
		if l.N <= from || l.N > to {
			continue
		}
		of := 0
		switch {
		case l.Fatal:
			of = 3
		case l.Shared:
			of = 2
		case l.Actor == trace.World:
			of = 1
		}
		if of >= weight {
			text, weight = strings.TrimSpace(l.Actor+" "+l.Text), of
		}
	}
	return text
}

// worst is the run with the most severe verdict that did harm; nil if none did.
func worst(o *outcome.Outcome) *outcome.ModeRun {
	if o.Live != nil || o.Death != nil {
		return nil
	}
	var w *outcome.ModeRun
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Trace != nil && m.Trace.Len() > 0 && m.Harmed() &&
			(w == nil || m.Verdict.Label.Severity() > w.Verdict.Label.Severity()) {
			w = m
		}
	}
	return w
}

// lastStep is the step up to which it is measured: the decisive one, or the last of the run if the story has none.
func lastStep(m *outcome.ModeRun) int {
	last := 0
	for _, l := range m.Story {
		if l.Fatal {
			last = max(last, l.N)
		}
	}
	if last == 0 {
		last = m.Events
	}
	return min(last, m.Trace.Len())
}

// endOfWork is when the last client that works marks something for the last time.
func endOfWork(m *outcome.ModeRun) time.Duration {
	for _, e := range slices.Backward(m.Trace.Events) {
		if _, ok := e.What.(trace.Mark); ok && trace.IsClient(e.Actor) {
			return e.At
		}
	}
	return m.Virtual
}
