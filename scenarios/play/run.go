package play

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
	protected "locksim/sim/store"
	"locksim/sim/trace"
)

// RunOptions say how [Run] plays a scenario. The zero value is seed 0, the default
// modes of the lock, and no second run.
type RunOptions struct {
	// Seed decides everything that is random.
	Seed uint64
	// Modes are the fencing modes to run. Default: [subject.DefaultModes].
	Modes []fence.Mode
	// Repeat says whether each run is repeated and compared.
	Repeat outcome.Repeat
	// Alone leaves out the run in mode none if Modes does not have it. The label is
	// then never rescued, and a run of one mode takes half the time.
	Alone bool
	// Bare leaves out what only a reader of a run wants: see [outcome.ModeRun.Complete].
	Bare bool
	// Shared takes a run that was made for that of another mode in which the store would have answered each operation in
	// the same words. The outcome is the same, sooner. A run that is repeated is made in each mode.
	Shared bool
	// Fork, if not nil, makes the run a continuation of the run of Seed.
	Fork *Fork
	// Death says how the program ends in the run, which is known from another process: the run is made up to there. There
	// is one mode then.
	Death *outcome.Death
	// Note, if not nil, is called when a run has come further.
	Note func(c Course)
}

// NondeterminismError is returned when two runs of one seed differed. The code
// under test draws from a source that the seed does not decide: a shared generator,
// the order of a map, two ready cases of a select.
type NondeterminismError struct {
	Scenario, Lock string
	Seed           uint64
	Mode           fence.Mode
	// Divergence is the first difference. It is nil if no event differed, but only
	// the history of the clients.
	Divergence *trace.Divergence
	// Advice is what the servers of the lock say about it: see [subject.ServerKind]. It is "" if
	// they say nothing.
	Advice string
}

func (e *NondeterminismError) Error() string {
	advice := e.Advice
	if advice != "" {
		advice = "\n" + advice
	}
	return fmt.Sprintf("nondeterministic: scenario %s, lock %s, seed %d, mode %s gave two different runs\n%s%s%s",
		e.Scenario, e.Lock, e.Seed, e.Mode, e.Where(), advice, Unseeded())
}

// Where is the first difference in words.
func (e *NondeterminismError) Where() string {
	if e.Divergence == nil {
		return "the events are the same, what the clients saw is not"
	}
	return e.Divergence.String()
}

// Place is where the two runs begin to differ, in a line: the two events, or what was before them.
func (e *NondeterminismError) Place() string {
	if e.Divergence == nil {
		return e.Where()
	}
	return e.Divergence.Place()
}

// Differ compares two outcomes of a lock for one schedule and seed in the same modes, event
// by event. It is nil if they are equal.
func Differ(l subject.Lock, a, b *outcome.Outcome) *NondeterminismError {
	for i := range a.Modes {
		x, y := &a.Modes[i], &b.Modes[i]
		d := trace.Diff(x.Trace, y.Trace)
		if d != nil || x.Verdict.Facts != y.Verdict.Facts {
			return &NondeterminismError{Scenario: a.Scenario.Name, Lock: a.Lock, Seed: a.Seed, Mode: x.Mode, Divergence: d,
				Advice: l.Advice(d)}
		}
	}
	return nil
}

// Run plays a scenario with a lock under each fencing mode: the same seed and
// the same schedule, so that the runs agree up to the first refusal.
//
// A broken lock is not an error: it is a verdict. Errors are an *InputError or
// another error about an argument, a [*NondeterminismError], the errors of
// [sim.Run], [ErrKeptOutside], and [ErrContradiction].
func Run(sc *file.Scenario, l subject.Lock, opts RunOptions) (*outcome.Outcome, error) {
	if err := errors.Join(sc.Validate(), l.Validate()); err != nil {
		return nil, err
	}
	l, err := l.In(sc)
	if err != nil {
		return nil, err
	}
	if err := l.Missing(); err != nil {
		return nil, err
	}
	of := trial{sc, taught{Lock: l}, opts}
	if opts.Death == nil && opts.Note == nil { // the program may end in the runs that teach too
		if of.lock, err = teach(l, sc); err != nil {
			return nil, err
		}
	}
	if sc.Store != "" && sc.Store != l.Fence() {
		return nil, sc.ErrorAt(sc.Pos("store"), "store: this is a run of %s, without the fence %s: name the lock alone, and "+
			"the fence beside it", l.Name, sc.Store)
	}
	return of.run()
}

// trial is what is played.
type trial struct {
	sc   *file.Scenario
	lock taught
	opts RunOptions
}

// run plays each mode.
func (t trial) run() (*outcome.Outcome, error) {
	l := t.lock
	modes := t.opts.Modes
	if len(modes) == 0 || l.TestsFence() {
		modes = subject.DefaultModes(l.Lock)
	}
	out := &outcome.Outcome{Scenario: t.sc, Lock: l.Name, Seed: t.opts.Seed, Death: t.opts.Death}
	if !l.PromisesNothing() {
		out.Promise = &l.Promise
	}
	out.Own = l.Own()
	base, err := t.baseline(modes)
	if err != nil {
		return nil, err
	}
	for _, mode := range modes {
		run, err := t.shared(mode, base, out.Modes)
		if err == nil && run == nil {
			run, err = t.mode(mode, base)
		}
		if err != nil {
			return nil, err
		}
		out.Modes = append(out.Modes, *run)
	}
	if !slices.Contains(modes, fence.None) {
		out.Base = base
	}
	return out, nil
}

// baseline is the run in mode none, against which a rescue is measured. It is made
// even if it was not asked for, unless [RunOptions.Alone] leaves it out.
func (t trial) baseline(modes []fence.Mode) (*outcome.ModeRun, error) {
	if t.opts.Alone || t.lock.TestsFence() || t.opts.Death != nil || len(modes) == 1 && modes[0] == fence.None {
		return nil, nil
	}
	return t.mode(fence.None, nil)
}

// shared is the run of a mode that is that of another one, of those that were made; nil if there is none.
func (t trial) shared(mode fence.Mode, base *outcome.ModeRun, made []outcome.ModeRun) (*outcome.ModeRun, error) {
	played := mode != fence.None && t.lock.Runs(mode) && !(t.lock.Data != nil && t.lock.Data.Alone)
	if !t.opts.Shared || t.opts.Repeat != outcome.Once || t.sc.Workload.Data != file.DataStore || !played ||
		t.lock.TestsFence() {
		return nil, nil
	}
	if base != nil && protected.Alike(base.Trace, mode) {
		return base.As(mode, base)
	}
	for i := range made {
		if made[i].Trace != nil && protected.Alike(made[i].Trace, mode) {
			return made[i].As(mode, base)
		}
	}
	return nil, nil
}

// mode makes the run of one mode, and its repetition.
func (t trial) mode(mode fence.Mode, base *outcome.ModeRun) (*outcome.ModeRun, error) {
	if mode == fence.None && base != nil {
		return base, nil
	}
	if !t.lock.Runs(mode) {
		return outcome.NotApplicable(mode), nil
	}
	run, err := t.once(mode, base)
	if err != nil || t.opts.Repeat == outcome.Once {
		return run, err
	}
	again, err := t.once(mode, base)
	if err != nil {
		return nil, err
	}
	of := func(run *outcome.ModeRun) *outcome.Outcome {
		return &outcome.Outcome{Scenario: t.sc, Lock: t.lock.Name, Seed: t.opts.Seed, Modes: []outcome.ModeRun{*run}}
	}
	if differs := Differ(t.lock.Lock, of(run), of(again)); differs != nil {
		return nil, differs
	}
	return run, nil
}

// once is one run, judged.
func (t trial) once(mode fence.Mode, base *outcome.ModeRun) (*outcome.ModeRun, error) {
	began := time.Now() //nolint:forbidigo // outside the bubble; it is never compared
	sc, l, opts, seed := t.sc, t.lock, t.opts, t.opts.Seed
	p := newPlay(sc, l)
	p.death, p.note, p.fork = opts.Death, opts.Note, opts.Fork
	res, err := p.simulate(seed, mode, 0, p.whole)
	// nothing of a frozen world can be read: up to there
	if stuck, ok := errors.AsType[*deadlocked](err); ok && opts.Death == nil {
		p = newPlay(sc, l)
		p.note, p.fork, p.stuck = opts.Note, opts.Fork, stuck
		res, err = p.simulate(seed, mode, 0, p.whole)
	}
	if err != nil {
		return nil, fmt.Errorf("scenario %s, lock %s, seed %d, mode %s: %w", sc.Name, l.Name, seed, mode, err)
	}
	run := p.runOf(mode, res.trace)
	run.Virtual, run.Rare = res.virtual, res.rare
	err = run.Judge(base)
	if err == nil && !opts.Bare {
		err = run.Complete()
	}
	if err != nil {
		return nil, fmt.Errorf("scenario %s, lock %s, seed %d, mode %s: %w", sc.Name, l.Name, seed, mode, err)
	}
	run.Wall = time.Since(began) //nolint:forbidigo // outside the bubble
	return run, nil
}

// On plays a scenario in the caller's world, in real time, whose store decides by the mode, and returns the run with
// its verdict. The world must have the servers that the scenario and the lock need; a fault that it cannot play is in
// [outcome.ModeRun.NotPlayed]. base is the run in mode none, against which a rescue is measured; it may be nil. Errors
// as for [Run], and those of the world.
func On(w Stage, sc *file.Scenario, l subject.Lock, mode fence.Mode, base *outcome.ModeRun) (*outcome.ModeRun, error) {
	if err := errors.Join(sc.Validate(), l.Validate()); err != nil {
		return nil, err
	}
	l, err := l.In(sc)
	if err != nil {
		return nil, err
	}
	p := newPlay(sc, taught{Lock: l})
	p.mode, p.real = mode, true
	if err := p.body(w); err != nil {
		return nil, err
	}
	run := p.runOf(mode, w.Trace())
	run.Virtual = w.Now()
	if err := run.Judge(base); err != nil {
		return nil, err
	}
	return run, run.Complete()
}

// runOf is a run that has ended, without its verdict.
func (p *play) runOf(mode fence.Mode, t *trace.Trace) *outcome.ModeRun {
	rec, terms := p.recordWith(t), p.lock.Terms()
	run := &outcome.ModeRun{Mode: mode, Trace: t, Record: rec, Terms: terms, Events: t.Len(),
		FaultsFired: p.schedule.fired,
		NotPlayed:   p.schedule.unable, FaultsFelt: p.felt, PartialPause: p.partialPause(), Hung: p.forever ||
			p.loops != "", WallClocks: p.wallClocks(),
		Barred: p.probe.Bound > 0 && !p.probe.Acquired || p.loops != ""}
	run.History, run.KeyChanges = evidence.History(p.sc, terms, rec), rec.KeyChanges()
	run.LongestWait = longestWait(run.History, t)
	run.Unknown = unknownTo(t)
	return run
}

// unknownTo is what the servers of a run did not know.
func unknownTo(t *trace.Trace) []string {
	var out []string
	for _, e := range t.Events {
		x, ok := e.What.(trace.Exec)
		if !ok || x.Answer == nil {
			continue
		}
		asked, ok := x.Request.(trace.Asking)
		if !ok {
			continue
		}
		if what := asked.Unknown(x.Answer); what != "" && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}

// longestWait is the longest time from an Acquire to its grant.
func longestWait(h checker.History, t *trace.Trace) time.Duration {
	var longest time.Duration
	for _, g := range h.Grants {
		longest = max(longest, t.Events[g.Granted-1].At-t.Events[g.Invoked-1].At)
	}
	return longest
}
