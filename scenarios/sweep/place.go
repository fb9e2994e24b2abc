package sweep

import (
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
)

// placement is one fault at one boundary. A restart is two faults, the crash and
// the restart.
type placement struct {
	kind   string // one of [Kinds], by its name
	target string
	at     time.Duration // when it strikes in the run without faults
	faults []faults.Fault
}

// String is the placement as a phrase.
func (p placement) String() string {
	texts := make([]string, len(p.faults))
	for i, f := range p.faults {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// restarts reports whether its target crashes and comes back.
func (p placement) restarts() bool { return len(p.faults) > 1 }

// placements are all placements of a sweep, and the numbers of those left out.
type placements struct {
	all        []placement
	boundaries int
	// equivalent counts boundaries, one for each fault that could strike there, at
	// which it would find its target in the same state as where it is placed.
	equivalent int
	// idle counts jumps of client clocks that are not read.
	idle int
}

// placer makes the placements of a run.
type placer struct {
	kinds   []sweepKind
	ttl     time.Duration
	wanted  func([]faults.Fault) bool // nil: all
	readers []string                  // the clients that read their wall clocks
	out     placements
	last    map[string]time.Duration // of each target, the last boundary at which the kind at hand was placed
}

// place enumerates the placements at the boundaries of a run, kind by kind, and
// in each kind in the order of the boundaries.
func (p *placer) place(found []boundary) placements {
	struck := make([]bool, len(found))
	for _, k := range p.kinds {
		p.last = map[string]time.Duration{}
		for i, b := range found {
			struck[i] = p.candidate(k, b) || struck[i]
		}
	}
	for _, s := range struck {
		if s {
			p.out.boundaries++
		}
	}
	return p.out
}

// candidate makes the placements of one kind at a boundary. It returns whether
// the kind can strike there at all.
func (p *placer) candidate(k sweepKind, b boundary) bool {
	target := k.target(b)
	if target == "" || p.wanted != nil && !p.wanted(p.faults(k, b, b.strike)) {
		return false
	}
	before, seen := p.last[target]
	switch {
	case k.class() == lock.FaultWallClock && !slices.Contains(p.readers, target):
		p.out.idle++
		return true
	case !slices.Contains(k.distinguishes, b.what) || seen && before == b.at:
		p.out.equivalent++
		return true
	}
	if seen && k.class() == lock.FaultNodeCrash && before+1 < b.strike {
		p.add(k, target, before+1, p.faults(k, b, before+1))
	}
	p.last[target] = b.at
	p.add(k, target, b.strike, p.faults(k, b, b.strike))
	return true
}

func (p *placer) add(k sweepKind, target string, at time.Duration, schedule []faults.Fault) {
	p.out.all = append(p.out.all, placement{k.name(), target, at, schedule})
}

// faults is the schedule of a placement. A fault at a point waits for the point
// itself.
func (p *placer) faults(k sweepKind, b boundary, at time.Duration) []faults.Fault {
	first := faults.Fault{At: at, Action: k.action(b, p.ttl)}
	if b.event != nil {
		event := *b.event
		first.When, first.At = &event, 0
	}
	if !k.restarts {
		return []faults.Fault{first}
	}
	return []faults.Fault{first, {At: at + outageOf(p.ttl), Action: faults.Restart{Process: k.target(b)}}}
}

// outageOf is how long a node stays down: about as long as its clients wait before
// they send again, so that some find it down.
func outageOf(ttl time.Duration) time.Duration { return percent(ttl, 1) }

// scenario is the calm scenario with these placements in it.
func (p placement) scenario(calm *file.Scenario, more ...placement) *file.Scenario {
	sc := *calm
	sc.Faults = slices.Clone(p.faults)
	for _, other := range more {
		sc.Faults = append(sc.Faults, other.faults...)
	}
	return &sc
}
