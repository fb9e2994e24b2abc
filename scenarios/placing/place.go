package placing

import (
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/sweeps"
	"locksim/sim/trace"
)

// Placement is one fault at one boundary. A restart is two faults, the crash and
// the restart.
type Placement struct {
	// Kind is one of [Kinds], by its name.
	Kind   string
	target string
	at     time.Duration // when it strikes in the run without faults
	faults []faults.Fault
}

// String is the placement as a phrase.
func (p Placement) String() string { return Text(p.faults) }

// Target is the name of the client or the server that is struck, or both ends of the link.
func (p Placement) Target() string { return p.target }

// Text is a schedule as a phrase.
func Text(schedule []faults.Fault) string {
	texts := make([]string, len(schedule))
	for i, f := range schedule {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// restarts reports whether its target crashes and comes back.
func (p Placement) restarts() bool { return len(p.faults) > 1 }

// Placements are all placements of a sweep, and the numbers of those left out.
type Placements struct {
	All []Placement
	// Boundaries counts the boundaries at which a fault can strike.
	Boundaries int
	// Equivalent counts boundaries, one for each fault that could strike there, at
	// which it would find its target in the same state as where it is placed.
	Equivalent int
	// Idle counts jumps of client clocks that are not read.
	Idle int
	// Servers are the servers of the lock, with the number of placements that strike each.
	Servers []sweeps.Server
	// Unplaced are the faults that are placed nowhere, or at no moment of some servers.
	Unplaced []sweeps.Unplaced
}

// Options say what is placed.
type Options struct {
	// Classes and Kinds are the classes and kinds of fault, as of [spaces.NamedFaults]. Nil Classes mean those that are
	// placed unasked.
	Classes []promise.Fault
	Kinds   []string
	// TTL is the time by which faults are measured.
	TTL time.Duration
	// Wanted chooses the schedules that are placed. Nil means all.
	Wanted func([]faults.Fault) bool
	// Readers are the clients that read their wall clocks.
	Readers []string
	// Refuses says why a schedule cannot be played in the world of the run, "" if it can. Nil means that all can.
	Refuses func([]faults.Fault) string
	// Kinds of servers that the lock needs. Nil means all that the world has.
	Needs []string
}

// In enumerates the placements in a run without faults.
func In(run *trace.Trace, opt Options) Placements {
	p := placer{kinds: kindsOf(opt.Classes, opt.Kinds), ttl: opt.TTL, wanted: opt.Wanted, readers: opt.Readers,
		refuses: opt.Refuses}
	p.place(boundaries(run))
	for _, s := range run.Servers {
		if s.Role != trace.RoleStore && (opt.Needs == nil || slices.Contains(opt.Needs, s.Kind)) {
			p.out.Servers = append(p.out.Servers, sweeps.Server{Name: s.Name, Kind: s.Kind, Role: s.Role,
				Placements: p.struck(s.Name)})
		}
	}
	p.leftOut(run.Servers)
	return p.out
}

// placer makes the placements of a run.
type placer struct {
	kinds   []faultKind
	ttl     time.Duration
	wanted  func([]faults.Fault) bool // nil: all
	readers []string                  // the clients that read their wall clocks
	refuses func([]faults.Fault) string
	refused map[[2]string]string // by the kind of fault and the target; it is the same wherever the fault strikes
	out     Placements
	last    map[string]time.Duration // of each target, the last boundary at which the kind at hand was placed
}

// place enumerates the placements at the boundaries of a run, kind by kind, and
// in each kind in the order of the boundaries.
func (p *placer) place(found []boundary) Placements {
	struck := make([]bool, len(found))
	for _, k := range p.kinds {
		p.last = map[string]time.Duration{}
		for i, b := range found {
			struck[i] = p.candidate(k, b) || struck[i]
		}
	}
	for _, s := range struck {
		if s {
			p.out.Boundaries++
		}
	}
	return p.out
}

// candidate makes the placements of one kind at a boundary. It returns whether
// the kind can strike there at all.
func (p *placer) candidate(k faultKind, b boundary) bool {
	target := k.target(b)
	if target == "" || p.barred(k, b) != "" {
		return false
	}
	before, seen := p.last[target]
	switch {
	case k.class() == promise.WallClock && !slices.Contains(p.readers, target):
		p.out.Idle++
		return true
	case !slices.Contains(k.distinguishes, b.what) || seen && before == b.at:
		p.out.Equivalent++
		return true
	}
	if seen && (k.class() == promise.NodeCrash || k.class() == promise.NodePower) && before+1 < b.strike {
		p.add(k, target, before+1, p.faults(k, b, before+1))
	}
	p.last[target] = b.at
	p.add(k, target, b.strike, p.faults(k, b, b.strike))
	return true
}

// barred says why a kind of fault is not placed at a boundary at which it has a target, "" if it may be.
func (p *placer) barred(k faultKind, b boundary) string {
	schedule := p.faults(k, b, b.strike)
	if p.wanted != nil && !p.wanted(schedule) {
		return "the lock makes no promise about that"
	}
	if p.refuses == nil {
		return ""
	}
	key := [2]string{k.name(), k.target(b)}
	why, known := p.refused[key]
	if !known {
		if p.refused == nil {
			p.refused = map[[2]string]string{}
		}
		why = p.refuses(schedule)
		p.refused[key] = why
	}
	return why
}

func (p *placer) add(k faultKind, target string, at time.Duration, schedule []faults.Fault) {
	p.out.All = append(p.out.All, Placement{k.name(), target, at, schedule})
}

// faults is the schedule of a placement. A fault at a point waits for the point
// itself.
func (p *placer) faults(k faultKind, b boundary, at time.Duration) []faults.Fault {
	first := faults.Fault{At: at, Action: k.action(b, p.ttl)}
	if b.event != nil {
		event := *b.event
		first.When, first.At = &event, 0
	}
	if !k.restarts {
		return []faults.Fault{first}
	}
	return []faults.Fault{first, {At: at + Outage(p.ttl), Action: faults.Restart{Process: k.target(b)}}}
}

// Outage is how long a node stays down: about as long as its clients wait before
// they send again, so that some find it down.
func Outage(ttl time.Duration) time.Duration { return percent(ttl, 1) }

// Scenario is the calm scenario with this placement and more in it.
func (p Placement) Scenario(calm *file.Scenario, more ...Placement) *file.Scenario {
	sc := *calm
	sc.Faults = slices.Clone(p.faults)
	for _, other := range more {
		sc.Faults = append(sc.Faults, other.faults...)
	}
	return &sc
}
