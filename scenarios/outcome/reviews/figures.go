package reviews

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/tally"
)

// Figures are the only figures that the rules of a review use.
type Figures struct {
	// Promises says whether the lock promises anything.
	Promises bool `json:"promises"`
	// Data is the fencing mode under which the lock promises that the data is right;
	// empty where it promises nothing about data.
	Data fence.Mode `json:"data,omitempty"`
	// Nodes is the number of servers that the lock needs.
	Nodes int `json:"nodes" jsonschema:"minimum=1"`
	// Described says whether the lock has a text about how it works.
	Described bool `json:"described"`
	// Modes are the fencing modes in which it was run, in their order.
	Modes []Mode `json:"modes"`
	// Within counts the runs of the exploration within the promise. In this tally and
	// in the two that follow, the rules use the runs, the evidence and the violations.
	Within tally.Tally `json:"within"`
	// Faults are those of [Plan].
	Faults []string `json:"faults" jsonschema:"nullable"`
	// All counts the runs of the exploration with every fault, or with Faults.
	All tally.Tally `json:"all"`
	// Swept counts the runs of the sweep.
	Swept tally.Tally `json:"swept"`
	// Doubtful counts the runs that came out differently when they were made
	// again, came to no end, or could not be made.
	Doubtful int `json:"doubtful"`
	// Lost counts the failures in which data was lost without a fence.
	Lost int `json:"lost"`
	// Faultless are the shapes of failures that need no fault.
	Faultless []string `json:"faultless"`
	// Outlived are those shapes of failures without a fault in which data was lost for
	// want of a fence and the lock did nothing wrong: its client went on after its
	// lease.
	Outlived []string `json:"outlived"`
	// Unpromised are the classes of fault that the promise does not name.
	Unpromised []promise.Fault `json:"unpromised"`
	// Seen counts for each class the failures and the scenarios with a harm in which
	// it struck.
	Seen map[promise.Fault]int `json:"seen"`
	// Partial counts the runs in which the lock acted during a pause.
	Partial int `json:"partial"`
}

// Mode is the result of the matrix in one fencing mode.
type Mode struct {
	// Mode is the fencing mode.
	Mode fence.Mode `json:"mode"`
	// Grounds has the runs of the scenarios of each ground.
	Grounds map[Ground]Count `json:"grounds"`
	// Failures are the failures, made in this mode: those within the promise or,
	// without a promise, all.
	Failures Count `json:"failures"`
}

// Count counts runs by label: runs of the matrix, or failures made in one fencing
// mode. It is no [tally.Tally], since it counts the results for the data behind
// each fence, which no promise judges.
type Count struct {
	// Scenarios counts the scenarios that were run.
	Scenarios int `json:"scenarios,omitempty"`
	// Runs counts the runs.
	Runs int `json:"runs"`
	// Labels counts the runs by label. It is null where there are no runs.
	Labels map[checker.Label]int `json:"labels" jsonschema:"nullable"`
	// Corrupted are the scenarios in which the data ended corrupted.
	Corrupted []string `json:"corrupted,omitempty"`
}

func newReviewFigures(r *Review) Figures {
	f := Figures{Promises: r.Lock.Promises, Nodes: r.Lock.Nodes, Described: r.Lock.About != "", Modes: r.modes(),
		Faultless: []string{}, Outlived: []string{}, Unpromised: r.Lock.Unpromised, Seen: map[promise.Fault]int{}}
	if mode, err := fence.ParseMode(r.Lock.Promise.Data); err == nil {
		f.Data = mode
	}
	f.Faults = r.Plan.Faults
	if r.Within != nil {
		f.Within = r.Within.Summary.Tally
	}
	if r.All != nil {
		f.All = r.All.Summary.Tally
	}
	if r.Sweep != nil {
		f.Swept = r.Sweep.Summary.Tally.Tally
	}
	f.count(r)
	return f
}

func (f *Figures) count(r *Review) {
	for _, found := range r.Failures {
		for _, class := range found.Classes {
			f.Seen[class]++
		}
		switch {
		case found.Faults > 0:
		case found.unfenced():
			f.Outlived = append(f.Outlived, found.Shape)
		default:
			f.Faultless = append(f.Faultless, found.Shape)
		}
		f.Lost += found.count(fence.None).corrupted()
	}
	for _, s := range r.Scenarios {
		for _, class := range s.Classes {
			f.Seen[class] += oneIf(s.Harmful())
		}
		for _, c := range s.Cells {
			if c.CellRuns != nil {
				f.Partial += c.PartialPause
			}
		}
	}
	for _, t := range []*tally.Tally{&f.Within, &f.All, &f.Swept} {
		f.Doubtful += t.Nondeterministic + t.Failed + t.NoVerdict + t.Differing
	}
	f.Partial += f.Within.Vacuous[outcome.ActedDuringPause] + f.All.Vacuous[outcome.ActedDuringPause]
	if r.Matrix != nil {
		f.Doubtful += len(r.Matrix.Failures)
	}
}

// unfenced reports whether data was lost without a fence, and nothing else was
// wrong: no lock with a lease prevents a client from going on after it.
func (f *Failure) unfenced() bool {
	return !slices.ContainsFunc(f.Violations, func(v outcome.Violation) bool {
		return v.Label != checker.Corrupted || v.Mode != fence.None
	})
}

// modes are the runs of the matrix and the failures, mode by mode.
func (r *Review) modes() []Mode {
	out := []Mode{}
	for _, mode := range fence.Modes() {
		m := Mode{Mode: mode, Grounds: map[Ground]Count{}}
		for _, s := range r.Scenarios {
			for _, c := range s.Cells {
				if c.Mode == mode && c.CellRuns != nil {
					m.Grounds[s.Ground] = m.Grounds[s.Ground].with(s.Name, c)
				}
			}
		}
		for _, f := range r.Failures {
			if f.From != FromAll || !r.Lock.Promises {
				m.Failures = m.Failures.plus(f.count(mode))
			}
		}
		if len(m.Grounds) > 0 || m.Failures.Runs > 0 {
			out = append(out, m)
		}
	}
	return out
}

// count is the result of the failure in a mode.
func (f *Failure) count(mode fence.Mode) Count {
	i := slices.IndexFunc(f.Fences, func(f Fence) bool { return f.Mode == mode })
	if i < 0 || f.Fences[i].Label == checker.NotApplicable {
		return Count{}
	}
	return Count{Runs: 1, Labels: map[checker.Label]int{f.Fences[i].Label: 1}}
}

func (n Count) with(scenario string, c matrices.Cell) Count {
	one := Count{Scenarios: 1, Runs: c.Seeds, Labels: c.Labels}
	if one.corrupted() > 0 {
		one.Corrupted = []string{scenario}
	}
	return n.plus(one)
}

// plus is the sum of two counts.
func (n Count) plus(o Count) Count {
	return Count{n.Scenarios + o.Scenarios, n.Runs + o.Runs,
		tally.AddCounts(maps.Clone(n.Labels), o.Labels), slices.Concat(n.Corrupted, o.Corrupted)}
}

// corrupted counts the runs that lost data, refused those with another harm.
func (n Count) corrupted() int { return n.Labels[checker.Corrupted] }

func (n Count) refused() int { return n.Labels[checker.Stuck] + n.Labels[checker.FalseReject] }

// sum adds up the counts of some grounds.
func (m Mode) sum(grounds ...Ground) Count {
	var sum Count
	for _, g := range grounds {
		sum = sum.plus(m.Grounds[g])
	}
	return sum
}

// Total adds up the counts of all grounds.
func (m Mode) Total() Count { return m.sum(Grounds()...) }

// mode is the result of the matrix in a mode, if it ran in it.
func (f *Figures) mode(mode fence.Mode) (m Mode, ok bool) {
	i := slices.IndexFunc(f.Modes, func(m Mode) bool { return m.Mode == mode })
	if i < 0 {
		return Mode{}, false
	}
	return f.Modes[i], true
}

// harms writes "corrupted 3, stuck 1", the worst first, or "none".
func harms(labels map[checker.Label]int) string {
	var parts []string
	for _, l := range checker.Labels() {
		if n := labels[l]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", l, prose.Thousands(n)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
