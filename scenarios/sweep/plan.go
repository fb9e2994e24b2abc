package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Version is the version of sweeps as JSON.
const Version = 1

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
	Judge explore.Judge
}

// Plan is everything that decides the result of a sweep, as a value that can be
// stored and sent.
type Plan struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Source is the text of the scenario without its faults.
	Source string `json:"source"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the seed of every run.
	Seed uint64 `json:"seed"`
	// Faults are the classes of fault that are placed. Null means those of [Kinds]
	// that are placed unasked.
	Faults []lock.Fault `json:"faults" jsonschema:"nullable"`
	// Kinds are kinds of fault that are placed in addition, by their names in
	// scenario files.
	Kinds []string      `json:"kinds,omitempty" jsonschema:"minItems=1"`
	Judge explore.Judge `json:"judge"`
	// TTL is the TTL of the lock, by which faults are measured, in nanoseconds.
	TTL time.Duration `json:"ttl"`
	// TraceHash is the hash of the run without faults, whose boundaries are used.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Boundaries counts the moments at which faults are placed.
	Boundaries int `json:"boundaries"`
	// Placements counts the placements of one fault.
	Placements int `json:"placements"`
	// Equivalent counts the placements that are left out since a fault finds its
	// target there in the same state as in another placement.
	Equivalent int `json:"equivalent"`
	// Idle counts the jumps of client clocks that are left out since the client
	// never reads its clock.
	Idle int `json:"idle"`
	// Pairs counts the pairs of placements that are tried.
	Pairs int `json:"pairs"`
	// AllPairs counts all possible pairs.
	AllPairs int `json:"all_pairs"`
	// Block is the number of runs of a job. Some have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// NewPlan plays the scenario without its faults, and enumerates the placements of a
// sweep. The errors are about the options, or about that run: a lock that breaks
// its promise without any fault cannot be swept.
func NewPlan(sc *file.Scenario, l play.Lock, opts Options) (*Plan, error) {
	p := &Plan{Scenario: sc.Name, Lock: l.Name, Seed: opts.Seed, Judge: opts.Judge, Block: blockRuns}
	var err error
	if p.Faults, p.Kinds, err = spaces.NamedFaults(opts.Faults); err != nil {
		return nil, err
	}
	if err := errors.Join(l.Validate(), search.Judgeable(l), p.problem(), opts.problem(l)); err != nil {
		return nil, err
	}
	l = p.Judge.Of(l)
	calm := calmed(sc, l)
	source, err := file.Format(calm)
	if err != nil {
		return nil, err
	}
	p.Source = string(source)
	if p.TTL, err = ttlOf(l, calm); err != nil {
		return nil, err
	}
	run, err := p.calmRun(search.PlayTwice(l, search.Case{Scenario: calm, Seed: p.Seed}))
	if err != nil {
		return nil, err
	}
	p.TraceHash = run.TraceHash
	places := p.enumerate(l, run)
	for i, x := range places.all {
		if i == 0 || x.kind != places.all[i-1].kind {
			if err := x.scenario(calm).Validate(); err != nil {
				return nil, fmt.Errorf("place %s in scenario %s: %w", x.kind, sc.Name, err)
			}
		}
	}
	p.Boundaries, p.Placements, p.Equivalent, p.Idle = places.boundaries, len(places.all), places.equivalent, places.idle
	p.AllPairs = newPairs(places.all, outageOf(p.TTL)).count()
	p.Pairs = min(opts.Pairs, p.AllPairs)
	switch {
	case p.Placements == 0 && p.Idle > 0:
		return nil, errors.New("no fault can be placed: no client reads its wall clock")
	case p.Placements == 0:
		return nil, fmt.Errorf("no fault can be placed: lock %s promises nothing under any of those asked for", l.Name)
	}
	return p, nil
}

// problem describes an invalid word or number of the plan.
func (p *Plan) problem() error {
	switch {
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Faults != nil && len(p.Faults)+len(p.Kinds) == 0:
		return errors.New("a sweep without faults has nothing to place: name some")
	case p.Placements < 0 || p.Pairs < 0:
		return fmt.Errorf("%d placements and %d pairs: there are no fewer than 0", p.Placements, p.Pairs)
	}
	return errors.Join(p.Judge.Validate(), spaces.Space{Faults: p.Faults, Kinds: p.Kinds}.Validate())
}

func (o Options) problem(l play.Lock) error {
	switch {
	case o.Pairs < 0 || o.Pairs > MaxPairs:
		return fmt.Errorf("%d pairs: give a number from 0 to %d", o.Pairs, MaxPairs)
	case o.Judge == explore.JudgePromise && l.PromisesNothing():
		return fmt.Errorf("lock %s promises nothing, and cannot be judged by its promise", l.Name)
	}
	return nil
}

// calmed is a scenario for a lock without its faults, and without the texts and
// expectations about these.
func calmed(sc *file.Scenario, l play.Lock) *file.Scenario {
	calm := *sc
	calm.Title, calm.Why, calm.Catalogue, calm.Locks = "", "", nil, nil
	calm.Faults, calm.Expect, calm.Source = nil, nil, nil
	calm.Name = strings.TrimRight(sc.Name[:min(len(sc.Name), 64-len(sweptSuffix))], "-") + sweptSuffix
	calm.Lock.Kind = l.Name
	play.Equip(&calm.World, l)
	return &calm
}

const sweptSuffix = "-swept"

// ttlOf is the TTL of the lock: that of the scenario, if the lock follows it, and
// else that of its leases and keys.
func ttlOf(l play.Lock, calm *file.Scenario) (time.Duration, error) {
	if l.FollowsSpec {
		return calm.Lock.TTL, nil
	}
	space, err := search.Discover(l, spaces.Space{Redis: calm.World.Redis, Servers: calm.World.Servers})
	return space.TTL.Max, err
}

// calmRun is a run of the scenario without faults. It is an error if the lock fails
// in it, and if its repetition differs.
func (p *Plan) calmRun(t *search.Trial) (*outcome.ModeRun, error) {
	switch {
	case t.Err != nil:
		return nil, t.Err
	case len(t.Violations) > 0:
		return nil, fmt.Errorf("lock %s fails in scenario %s without any fault (%s): there is nothing to sweep", p.Lock, p.Scenario, t.Violations[0])
	case t.Difference != nil:
		return nil, t.Difference
	}
	return &t.Outcome.Modes[0], nil
}

// enumerate finds the placements in the run without faults.
func (p *Plan) enumerate(l play.Lock, run *outcome.ModeRun) placements {
	at := placer{kinds: kindsOf(p.Faults, p.Kinds), ttl: p.TTL, readers: run.WallClocks}
	if p.Judge == explore.JudgePromise {
		at.wanted = func(schedule []faults.Fault) bool { return l.Promises(schedule) }
	}
	return at.place(boundaries(run.Trace))
}

// Jobs is the number of jobs of the plan: those of the placements, then those of
// the pairs.
func (p *Plan) Jobs() int { return p.blocks(p.Placements) + p.blocks(p.Pairs) }

func (p *Plan) blocks(n int) int { return (n + p.Block - 1) / p.Block }

// Job is one of the jobs, numbered from 0.
func (p *Plan) Job(i int) Job {
	j := Job{Plan: *p, Number: i}
	n := p.Placements
	if singles := p.blocks(n); i >= singles {
		j.Of, n, i = Pairs, p.Pairs, i-singles
	}
	j.First = i * p.Block
	j.Runs = min(p.Block, n-j.First)
	return j
}

// ReadPlan reads a plan that was written as JSON. The error says what is invalid in
// it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of a sweep: %w", err)
	}
	if err := p.problem(); err != nil {
		return nil, fmt.Errorf("this plan of a sweep is invalid: %w", err)
	}
	return p, nil
}
