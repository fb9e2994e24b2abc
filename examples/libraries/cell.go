package libraries

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/reports/scene"
	"locksim/scenarios"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Sheet is what a program says of its library. It has what the table needs and no lock.
type Sheet struct {
	Name, Module, Version, Source string
	Overlay                       bool
	Unproven                      string
	Locks                         []LockSheet
	Findings                      []Finding
}

// LockSheet is what it says of a lock.
type LockSheet struct {
	Name, Options, Quote, Where, Fence, Untested, About string
	Tokens, FollowsSpec                                 bool
	// Detection says within which time a holder learns that it has lost the lock, for one that is held until then.
	Detection string `json:",omitempty"`
	Runs      int
	// Promise is what the lock is judged by, in words. Faults are the classes of fault of it.
	Promise []scene.PromisePart
	Faults  []lock.Fault
	Why     map[string][]string
	// Servers are the kinds of its servers. Live says that there are real ones of each.
	Servers []string
	Live    bool
}

// Cell is a lock in a trouble: a cell of the table.
type Cell struct {
	Lock, Trouble string
	// Promise is the part of the trouble under which the lock promises something, judged by that. Nil where it promises
	// nothing.
	Promise *Part
	// Beyond is the rest of it, judged by what counts in any case. Nil where there is none.
	Beyond *Part
}

// Part is what some runs have shown.
type Part struct {
	Faults []lock.Fault
	// FirstSeed is the seed of the first schedule, Runs how many there were, Evidence in how many of them two clients wanted
	// the lock, Violating in how many something was broken.
	FirstSeed                 uint64
	Runs, Evidence, Violating int
	// Felt says in how many of Evidence a fault was felt at least: it counts those of the class that was felt most often. Where
	// nothing fails, it is Evidence.
	Felt int
	// Labels counts the runs with a violation by what was broken.
	Labels map[string]int
	// Inapplicable says that no such fault can strike the servers of the lock, or that none is felt.
	Inapplicable bool
	// NoVerdict says why the runs tell nothing: a defect of locksim or of the adapter.
	NoVerdict string
	// Frozen is how many runs there were before one that did not end, since code of others waited for a mutex while virtual
	// time stood still. The program has to exit then.
	Frozen   int `json:",omitempty"`
	Failures []Failure
}

// Failure is what broke the lock, by its smallest run.
type Failure struct {
	Seed uint64
	Runs int
	// Played is the seed with which the smallest schedule is played.
	Played uint64
	// What is what was broken under which faults, Label what was broken; Reasons say it in words.
	What    string
	Label   checker.Label
	Reasons []string
	Story   []failure.Step
	// Source is the smallest schedule as a scenario, Same how many of ten runs of it were equal.
	Source string
	Same   int
	// AsLive has the labels of the smallest run, mode by mode, by what a run on real servers is judged by.
	AsLive map[fence.Mode]checker.Label `json:",omitempty"`
}

func (l Library) sheet() (Sheet, error) {
	version, err := l.version()
	s := Sheet{Name: l.Name, Module: l.Module, Version: version, Source: l.Source, Overlay: l.Overlay, Unproven: l.Unproven, Findings: l.Findings}
	for _, x := range l.Locks {
		ls := LockSheet{Name: x.Name, Options: x.Options, Quote: x.Quote, Where: x.Where, Fence: x.Fence, Untested: x.Untested, About: x.About,
			Tokens: x.Tokens, FollowsSpec: x.FollowsSpec, Runs: x.runs(), Detection: x.DetectedWithin(), Promise: scene.Promise(x.Promise, x.Tokens), Faults: x.Promise.Exclusion, Why: x.Why}
		ls.Live = true
		for _, n := range x.Needs() {
			ls.Live = ls.Live && (n.Kind.Real != nil || server.Starts(server.Kind(n.Kind.Name)))
			ls.Servers = append(ls.Servers, fmt.Sprintf("%d %s", n.Count, n.Kind.Name))
		}
		s.Locks = append(s.Locks, ls)
	}
	return s, err
}

// playCell makes a cell.
func playCell(x Lock, t Trouble, runs int, seed uint64) (Cell, error) {
	c := Cell{Lock: x.Name, Trouble: t.Name}
	promised, beyond := []lock.Fault{}, []lock.Fault{}
	for _, f := range t.Faults {
		if slices.Contains(x.Promise.Exclusion, f) {
			promised = append(promised, f)
		} else {
			beyond = append(beyond, f)
		}
	}
	var err error
	if len(promised) > 0 || len(t.Faults) == 0 {
		l := x.Lock
		if len(t.Faults) == 0 {
			l = strict(l) // nothing takes the lock from its holder
		}
		if c.Promise, err = part(l, promised, runs, seed); err != nil {
			return c, err
		}
	}
	if len(beyond) > 0 {
		l := strict(x.Lock)
		l.Promise = essence(beyond, l)
		c.Beyond, err = part(l, beyond, runs, seed)
	}
	return c, err
}

// strict is a lock of which two holders are two, however soon one of them learns that it has lost the lock.
func strict(l scenarios.Lock) scenarios.Lock {
	if l.Lease == scenarios.LeaseHeld {
		l.Detection = time.Millisecond
	}
	return l
}

// essence is what a lock is for, under faults for which it promises nothing: that two clients never have it at once and,
// where it mints tokens, that the data is right behind a fence. When it is free again does not count, nor what its calls
// say.
func essence(faults []lock.Fault, l scenarios.Lock) lock.Promise {
	p := lock.Promise{
		Exclusion: faults, FreeWithin: lock.TermAnyTime, FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime},
		SelfExcludes: true, ResendExcludes: true,
	}
	if l.Tokens {
		p.Data, p.TokensUnordered = "seal", l.Promise.TokensUnordered
	}
	return p
}

// part explores a lock under faults for which it promises something.
func part(l scenarios.Lock, faults []lock.Fault, runs int, seed uint64) (*Part, error) {
	p := &Part{Faults: faults, FirstSeed: seed, Runs: runs}
	l = l.Cached()
	plan, err := explore.NewPlan(l, explore.Options{Runs: runs, FirstSeed: seed, Faults: faults, Judge: explorations.JudgePromise, Collect: explorations.CollectAll})
	if errors.Is(err, search.ErrNoFailover) {
		p.Runs, p.Inapplicable = 0, true
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	plan.Block = runs // one block: a few failures of all are made minimal, and not of each hundred
	played := 0
	block, err := explore.NewJob(plan, 0).Play([]scenarios.Lock{l}, func() { played++ })
	if err != nil {
		p.NoVerdict = err.Error()
		if _, ok := errors.AsType[*play.Frozen](err); ok {
			p.Frozen = played
		}
		return p, nil //nolint:nilerr // that is what the runs show
	}
	e := explorations.Assemble(plan, map[int]explorations.Block{0: block})
	s := e.Summary
	p.Runs, p.Evidence, p.Violating = s.Runs, s.Evidence, s.Violating
	p.Felt = s.Evidence
	if len(faults) > 0 {
		p.Felt = 0
		for _, class := range s.Classes {
			p.Felt = max(p.Felt, class.Evidence)
		}
		p.Inapplicable = p.Felt == 0 && p.Violating == 0
	}
	if problems := e.Problems(); len(problems) > 0 {
		p.NoVerdict = problems[0]
	}
	for label, n := range s.Violations {
		if p.Labels == nil {
			p.Labels = map[string]int{}
		}
		p.Labels[string(label)] += n
	}
	for _, f := range s.Failures {
		out := Failure{Seed: f.Seed, Runs: f.Runs, What: f.Shape, Reasons: f.Reasons, Story: f.Story, Same: f.Same}
		if len(f.Violations) > 0 {
			out.Label = f.Violations[0].Label
		}
		if f.Run != nil {
			out.Source, out.Played = f.Run.Source, f.Run.Seed
		}
		if f.Run != nil && f.Same == failure.Replays {
			again, err := play.Replay(f.Run, []scenarios.Lock{l}, outcome.Once)
			if err != nil {
				return nil, err
			}
			if out.AsLive, err = again.JudgedAsLive(); err != nil {
				return nil, err
			}
		}
		p.Failures = append(p.Failures, out)
	}
	return p, nil
}
