package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"locksim/faults"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Version is the version of sweeps as JSON.
const Version = 1

// sweepBlock is how many runs one job of a sweep has.
const sweepBlock = 100

// MaxSweepPairs bounds the pairs of one sweep.
const MaxSweepPairs = 1_000_000

// Options say what a sweep tries.
type Options struct {
	// Seed is the seed of all its runs.
	Seed uint64
	// Kinds are names of [Kinds]. Nil means pauses, crashes, restarts, cuts, lost
	// replies and clocks that jump or, for a lock that is judged by its promise, those
	// of them that it promises to stand.
	Kinds []string
	// Pairs is how many pairs of placements are tried besides. 0 means none.
	Pairs int
	// Judge is what the lock is judged by.
	Judge explore.Judge
}

// Plan is all that decides what a sweep comes to, as a value that can be
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
	// Kinds are the kinds of fault that are placed. They are absent where it is
	// all of them.
	Kinds []string      `json:"kinds,omitempty"`
	Judge explore.Judge `json:"judge"`
	// TTL is the TTL of the lock, by which faults are measured, in nanoseconds.
	TTL time.Duration `json:"ttl"`
	// TraceHash is the hash of the run without faults, whose boundaries these are.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Boundaries counts the moments at which faults are placed.
	Boundaries int `json:"boundaries"`
	// Placements counts the placements of one fault.
	Placements int `json:"placements"`
	// Equivalent counts the placements that are left out since a fault finds its
	// target there as it does in another placement.
	Equivalent int `json:"equivalent"`
	// Idle counts the jumps of client clocks that are left out since the client
	// never looks at its clock.
	Idle int `json:"idle"`
	// Pairs counts the pairs of placements that are tried.
	Pairs int `json:"pairs"`
	// AllPairs counts the pairs that there are.
	AllPairs int `json:"all_pairs"`
	// Block is how many runs a job has. Some have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// NewPlan plays the scenario without its faults, and enumerates what a
// sweep places in it. The errors are about the options, or about that run: a
// lock that breaks its promise without any fault cannot be swept.
func NewPlan(sc *file.Scenario, l play.Lock, opts Options) (*Plan, error) {
	p := &Plan{Scenario: sc.Name, Lock: l.Name, Seed: opts.Seed, Kinds: opts.Kinds, Judge: opts.Judge, Block: sweepBlock}
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
	places, err := p.enumerate(l, run)
	if err != nil {
		return nil, err
	}
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
	if p.Placements == 0 {
		return nil, fmt.Errorf("there is nowhere to place a fault: lock %s promises nothing under any of those asked for", l.Name)
	}
	return p, nil
}

// problem is what is wrong with the plan's words and numbers.
func (p *Plan) problem() error {
	switch {
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Placements < 0 || p.Pairs < 0:
		return fmt.Errorf("%d placements and %d pairs: there are no fewer than 0", p.Placements, p.Pairs)
	case p.Judge != explore.JudgeEverything && p.Judge != explore.JudgePromise:
		return fmt.Errorf("a lock is judged by %q: say %s or %s", p.Judge, explore.JudgeEverything, explore.JudgePromise)
	}
	_, err := kindsOf(p.Kinds)
	return err
}

func (o Options) problem(l play.Lock) error {
	switch {
	case o.Pairs < 0 || o.Pairs > MaxSweepPairs:
		return fmt.Errorf("%d pairs: give a number from 0 to %d", o.Pairs, MaxSweepPairs)
	case o.Judge == explore.JudgePromise && l.PromisesNothing():
		return fmt.Errorf("lock %s promises nothing, and cannot be judged by its promise", l.Name)
	}
	return nil
}

// calmed is a scenario for a lock without its faults, and without what the file says
// and expects of these.
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

// ttlOf is how long the lock holds: as long as the scenario says, if it can be
// made so, and else as long as its leases and keys say.
func ttlOf(l play.Lock, calm *file.Scenario) (time.Duration, error) {
	if l.FollowsSpec {
		return calm.Lock.TTL, nil
	}
	space, err := search.Discover(l, search.Space{Redis: calm.World.Redis, Servers: calm.World.Servers})
	return space.TTL.Max, err
}

// calmRun is a run of the scenario without faults. It is an error where the lock
// fails in it, and where its repetition differs.
func (p *Plan) calmRun(t *search.Trial) (*play.ModeRun, error) {
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
func (p *Plan) enumerate(l play.Lock, run *play.ModeRun) (placements, error) {
	kinds, err := kindsOf(p.Kinds)
	if err != nil {
		return placements{}, err
	}
	at := placer{kinds: kinds, ttl: p.TTL, readers: run.WallClocks}
	if p.Judge == explore.JudgePromise {
		at.wanted = func(schedule []faults.Fault) bool { return l.Promises(schedule) }
	}
	return at.place(boundaries(run.Trace)), nil
}

// Jobs is how many jobs the plan has: those of the placements, then those of the
// pairs.
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

// ReadPlan reads a plan that was written as JSON. The error says what makes
// no sense about it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of a sweep: %w", err)
	}
	if err := p.problem(); err != nil {
		return nil, fmt.Errorf("this plan of a sweep makes no sense: %w", err)
	}
	return p, nil
}
