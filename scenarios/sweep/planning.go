package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/placing"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// blockRuns is the number of runs of a job.
const blockRuns = 100

// MaxPairs is the greatest number of pairs of a sweep.
const MaxPairs = 1_000_000

// Options say what a sweep tries.
type Options struct {
	// Seed is the seed of all its runs.
	Seed uint64
	// Faults name the classes and kinds of fault to place: see [spaces.NamedFaults].
	// Nil means pauses, crashes, crashes of nodes with a restart, cuts, lost replies
	// and clocks that jump or, for a lock that is judged by its promise, those of
	// them that the promise covers.
	Faults []lock.Fault
	// Pairs is the number of pairs of placements that are tried in addition. 0 means none.
	Pairs int
	// Judge is what the lock is judged by.
	Judge explorations.Judge
}

// NewPlan plays the scenario without its faults, and enumerates the placements of a
// sweep. The errors are about the options, or about that run: a lock that breaks
// its promise without any fault cannot be swept.
func NewPlan(sc *file.Scenario, l subject.Lock, opts Options) (*sweeps.Plan, error) {
	p := &sweeps.Plan{Scenario: sc.Name, Lock: l.Name, Seed: opts.Seed, Judge: opts.Judge, Block: blockRuns}
	var err error
	if p.Faults, p.Kinds, err = spaces.NamedFaults(opts.Faults); err != nil {
		return nil, err
	}
	if err := errors.Join(l.Validate(), search.Judgeable(l), p.Problem(), opts.problem(l)); err != nil {
		return nil, err
	}
	if p.Judge, err = explore.JudgeOf(l, p.Judge); err != nil {
		return nil, err
	}
	l = explore.Judged(l, p.Judge)
	calm := calmed(sc, l)
	source, err := file.Format(calm)
	if err != nil {
		return nil, err
	}
	p.Source = string(source)
	if p.TTL, err = ttlOf(l, calm); err != nil {
		return nil, err
	}
	run, err := calmRun(p, search.PlayTwice(l, search.Case{Scenario: calm, Seed: p.Seed}))
	if err != nil {
		return nil, err
	}
	p.TraceHash = run.Trace.Hash()
	places := enumerate(p, calm, l, run)
	if p.Unplaced, err = unable(p, calm, l, places); err != nil {
		return nil, err
	}
	if len(p.Unplaced) > 0 {
		places = enumerate(p, calm, l, run)
	}
	p.Servers, p.Unplaced = places.Servers, places.Unplaced
	p.Boundaries, p.Placements, p.Equivalent, p.Idle = places.Boundaries, len(places.All), places.Equivalent, places.Idle
	p.AllPairs = placing.NewPairs(places.All, placing.Outage(p.TTL)).Count()
	p.Pairs = min(opts.Pairs, p.AllPairs)
	if p.Placements == 0 {
		why := p.NotPlaced()
		if p.Idle > 0 {
			why = append(why, "no client reads its wall clock")
		}
		return nil, fmt.Errorf("no fault can be placed: %s", strings.Join(why, "; "))
	}
	return p, nil
}

func (o Options) problem(l subject.Lock) error {
	switch {
	case o.Pairs < 0 || o.Pairs > MaxPairs:
		return fmt.Errorf("%d pairs: give a number from 0 to %d", o.Pairs, MaxPairs)
	case o.Judge == explorations.JudgePromise && l.PromisesNothing():
		return fmt.Errorf("lock %s promises nothing, and cannot be judged by its promise", l.Name)
	}
	return nil
}

// calmed is a scenario for a lock without its faults, and without the texts and
// expectations about these.
func calmed(sc *file.Scenario, l subject.Lock) *file.Scenario {
	calm := *sc
	calm.Title, calm.Why, calm.Catalogue, calm.Locks = "", "", nil, nil
	calm.Faults, calm.Expect, calm.Source = nil, nil, nil
	calm.Name = strings.TrimRight(sc.Name[:min(len(sc.Name), 64-len(sweptSuffix))], "-") + sweptSuffix
	calm.Lock.Kind, calm.Store = l.Kind(), l.Fence()
	subject.Equip(&calm.World, l)
	return &calm
}

const sweptSuffix = "-swept"

// ttlOf is the TTL of the lock: that of the scenario, if the lock follows it, and
// else that of its leases and keys.
func ttlOf(l subject.Lock, calm *file.Scenario) (time.Duration, error) {
	if l.FollowsSpec {
		return calm.Lock.TTL, nil
	}
	space, err := search.Discover(l, spaces.Space{Redis: calm.World.Redis, Servers: calm.World.Servers})
	return space.TTL.Max, err
}

// calmRun is a run of the scenario without faults. It is an error if the lock fails
// in it, and if its repetition differs.
func calmRun(p *sweeps.Plan, t *search.Trial) (*outcome.ModeRun, error) {
	switch {
	case t.Err != nil:
		return nil, t.Err
	case len(t.Violations) > 0:
		return nil, fmt.Errorf("lock %s fails in scenario %s without any fault (%s): there is nothing to sweep", p.Lock,
			p.Scenario, t.Violations[0])
	case t.Difference != nil:
		return nil, t.Difference
	}
	return &t.Outcome.Modes[0], nil
}

// enumerate finds the placements in the run without faults.
func enumerate(p *sweeps.Plan, calm *file.Scenario, l subject.Lock, run *outcome.ModeRun) placing.Placements {
	opt := placing.Options{Classes: p.Faults, Kinds: p.Kinds, TTL: p.TTL, Readers: run.WallClocks,
		Refuses: func(schedule []faults.Fault) string { return refusal(p, calm, schedule) }}
	for _, s := range l.Needs() {
		opt.Needs = append(opt.Needs, s.Kind.Name)
	}
	if p.Judge == explorations.JudgePromise {
		opt.Wanted = func(schedule []faults.Fault) bool { return l.Promises(schedule) }
	}
	return placing.In(run.Trace, opt)
}

// unable plays one placement of each fault on each server whose kind does not say what cannot strike it, and finds
// those that need an ability which the server does not have.
func unable(p *sweeps.Plan, calm *file.Scenario, l subject.Lock, places placing.Placements) ([]sweeps.Unplaced, error) {
	type on struct{ fault, server string }
	tried := map[on]bool{}
	var out []sweeps.Unplaced
	for _, x := range places.All {
		at := on{x.Kind, x.Target()}
		s, ok := calm.World.KindOf(at.server)
		if !ok || len(s.Lacks) > 0 || tried[at] {
			continue
		}
		tried[at] = true
		t := search.Play(l, search.Case{Scenario: x.Scenario(calm), Seed: p.Seed})
		if t.Loops() {
			return nil, t.Err
		}
		if errors.Is(t.Err, faults.ErrNoAbility) || t.Outcome != nil && notPlayed(&t.Outcome.Modes[0]) {
			out = append(out, sweeps.Unplaced{Fault: at.fault, Servers: []string{at.server}, Why: nothingIn(s.Name)})
		}
	}
	return out, nil
}

// notPlayed reports whether the world of a run lacks the ability that one of its faults needs.
func notPlayed(run *outcome.ModeRun) bool {
	return slices.ContainsFunc(run.NotPlayed, func(why string) bool { return why != "" })
}

// nothingIn is the reason why a fault is not placed on servers of a kind that it cannot strike.
func nothingIn(kind string) string {
	return fmt.Sprintf("%s servers have nothing that this could strike", kind)
}

// refusal says why a scenario cannot have a schedule, "" if it can. What a plan says already is known.
func refusal(p *sweeps.Plan, calm *file.Scenario, schedule []faults.Fault) string {
	for _, f := range schedule {
		form, _ := faults.Open(f.Action)
		for _, field := range form.Fields {
			name, ok := field.Holds.(faults.Name)
			if !ok {
				continue
			}
			if s, ok := calm.World.KindOf(*name.To); ok && slices.Contains(s.Lacks, form.Name) {
				return nothingIn(s.Name)
			}
			kind := spaces.FaultName(schedule, f.Action)
			known := func(u sweeps.Unplaced) bool { return u.Fault == kind && slices.Contains(u.Servers, *name.To) }
			if i := slices.IndexFunc(p.Unplaced, known); i >= 0 {
				return p.Unplaced[i].Why
			}
		}
	}
	sc := *calm
	sc.Faults = schedule
	err := sc.Validate()
	if field, ok := errors.AsType[*faults.FieldError](err); ok {
		return field.Problem
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
