package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// Figures are the figures that the rules of a review look at, and nothing
// else: whoever changes one changes what the rules say.
type Figures struct {
	// Promises says whether the lock promises anything, Data under which fencing
	// mode it says that the data is right; it is empty where it says nothing.
	Promises bool       `json:"promises"`
	Data     fence.Mode `json:"data,omitempty"`
	// Nodes is the number of servers that it needs. Described says that somebody
	// has said how the lock works.
	Nodes     int  `json:"nodes"`
	Described bool `json:"described"`
	// Modes are the fencing modes in which it was run, in their order.
	Modes []Mode `json:"modes"`
	// Within, All and Swept are the runs of the explorations and of the sweep.
	Within Runs `json:"within"`
	All    Runs `json:"all"`
	Swept  Runs `json:"swept"`
	// Doubtful counts the runs that came out differently when they were made
	// again, came to no end, or could not be made.
	Doubtful int `json:"doubtful"`
	// Lost counts the breaks in which data was lost without a fence.
	Lost int `json:"lost"`
	// Faultless are the shapes of breaks that need no fault. Outlived are those of
	// them in which data was lost for want of a fence and the lock did nothing
	// wrong: its client went on after its lease.
	Faultless []string `json:"faultless"`
	Outlived  []string `json:"outlived"`
	// Unpromised are the classes of fault of which the promise does not speak;
	// Seen counts for each class the breaks and the scenarios with a harm in
	// which it struck.
	Unpromised []lock.Fault       `json:"unpromised"`
	Seen       map[lock.Fault]int `json:"seen"`
	// Partial counts the runs in which the lock acted during a pause.
	Partial int `json:"partial"`
}

// Mode is what the matrix came to in one fencing mode.
type Mode struct {
	Mode fence.Mode `json:"mode"`
	// Grounds has the runs of the scenarios of each ground.
	Grounds map[Ground]Count `json:"grounds"`
	// Breaks are the smallest runs of the breaks in this mode: of those within the
	// promise or, where there is none, of all.
	Breaks BreakCount `json:"breaks"`
}

// BreakCount counts the smallest runs of breaks in one fencing mode.
type BreakCount struct {
	// Tried counts them, Corrupted those in which data was lost, Refused those in
	// which a rightful holder was refused or nobody could have the lock.
	Tried     int `json:"tried"`
	Corrupted int `json:"corrupted"`
	Refused   int `json:"refused"`
}

// Count counts runs of the matrix by label.
type Count struct {
	Scenarios int                   `json:"scenarios"`
	Runs      int                   `json:"runs"`
	Labels    map[checker.Label]int `json:"labels"`
	// Corrupted are the scenarios in which the data ended corrupted.
	Corrupted []string `json:"corrupted"`
}

// Runs are the runs of an exploration or a sweep.
type Runs struct {
	// Runs counts them, Evidence those that say something, Violating those with
	// a violation, Labels these by label.
	Runs      int                   `json:"runs"`
	Evidence  int                   `json:"evidence"`
	Violating int                   `json:"violating"`
	Labels    map[checker.Label]int `json:"labels,omitempty"`
	// RateBound is the highest rate of violations that this is consistent with,
	// at 95 %; 0 for a sweep, which draws nothing.
	RateBound float64 `json:"rate_bound_95,omitempty"`
}

func newReviewFigures(r *Review) Figures {
	f := Figures{Promises: r.Lock.Promises, Nodes: r.Lock.Nodes, Described: r.Lock.About != "", Modes: r.modes(),
		Within: exploredRuns(r.Within), All: exploredRuns(r.All), Swept: sweptRuns(r.Sweep),
		Faultless: []string{}, Outlived: []string{}, Unpromised: r.Lock.Unpromised, Seen: map[lock.Fault]int{}}
	if mode, err := fence.ParseMode(r.Lock.Promise.Data); err == nil {
		f.Data = mode
	}
	f.count(r)
	return f
}

// count counts what is found in several parts.
func (f *Figures) count(r *Review) {
	for _, b := range r.Breaks {
		for _, class := range b.Classes {
			f.Seen[class]++
		}
		switch {
		case b.Found.Faults > 0:
		case b.unfenced():
			f.Outlived = append(f.Outlived, b.Shape)
		default:
			f.Faultless = append(f.Faultless, b.Shape)
		}
		f.Lost += b.count(fence.None).Corrupted
	}
	for _, s := range r.Scenarios {
		for _, class := range s.Classes {
			f.Seen[class] += reviewOneIf(s.Harmful())
		}
		for _, c := range s.Cells {
			if c.CellRuns != nil {
				f.Partial += c.PartialPause
			}
		}
	}
	for _, e := range []*explore.Exploration{r.Within, r.All} {
		if e != nil {
			f.Doubtful += e.Summary.Nondeterministic + e.Summary.Failed
			f.Partial += e.Summary.Vacuous[play.ActedDuringPause]
		}
	}
	if r.Sweep != nil {
		f.Doubtful += r.Sweep.Summary.Nondeterministic + r.Sweep.Summary.Failed
	}
	if r.Matrix != nil {
		f.Doubtful += len(r.Matrix.Failures)
	}
}

// unfenced reports whether data was lost without a fence, and nothing else was
// wrong: no lock with a lease keeps a client from going on after it.
func (b *Break) unfenced() bool {
	return !slices.ContainsFunc(b.Found.Violations, func(v play.Violation) bool {
		return v.Label != checker.Corrupted || v.Mode != fence.None
	})
}

// modes are the runs of the matrix and of the breaks, mode by mode.
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
		for _, b := range r.Breaks {
			if b.From != FromAll || !r.Lock.Promises {
				m.Breaks = m.Breaks.plus(b.count(mode))
			}
		}
		if len(m.Grounds) > 0 || m.Breaks.Tried > 0 {
			out = append(out, m)
		}
	}
	return out
}

// count is what became of the smallest run in a mode.
func (b *Break) count(mode fence.Mode) BreakCount {
	i := slices.IndexFunc(b.Fences, func(f Fence) bool { return f.Mode == mode })
	if i < 0 || b.Fences[i].Label == checker.NotApplicable {
		return BreakCount{}
	}
	label := b.Fences[i].Label
	return BreakCount{1, reviewOneIf(label == checker.Corrupted), reviewOneIf(label == checker.Stuck || label == checker.FalseReject)}
}

func (n BreakCount) plus(o BreakCount) BreakCount {
	return BreakCount{n.Tried + o.Tried, n.Corrupted + o.Corrupted, n.Refused + o.Refused}
}

// with counts one cell more.
func (n Count) with(scenario string, c matrix.Cell) Count {
	n.Scenarios++
	n.Runs += c.Seeds
	n.Labels = search.AddCounts(maps.Clone(n.Labels), c.Labels)
	if c.Labels[checker.Corrupted] > 0 {
		n.Corrupted = append(slices.Clone(n.Corrupted), scenario)
	}
	return n
}

// sum adds up the counts of some grounds.
func (m Mode) sum(grounds ...Ground) Count {
	var sum Count
	for _, g := range grounds {
		n := m.Grounds[g]
		sum.Scenarios += n.Scenarios
		sum.Runs += n.Runs
		sum.Labels = search.AddCounts(maps.Clone(sum.Labels), n.Labels)
		sum.Corrupted = append(sum.Corrupted, n.Corrupted...)
	}
	return sum
}

// Total adds up the counts of all grounds.
func (m Mode) Total() Count { return m.sum(Grounds()...) }

func exploredRuns(e *explore.Exploration) Runs {
	if e == nil {
		return Runs{}
	}
	s := &e.Summary
	return Runs{Runs: s.Runs, Evidence: s.NonVacuous, Violating: s.Violating, Labels: s.Violations, RateBound: s.RateBound}
}

func sweptRuns(s *sweep.Sweep) Runs {
	if s == nil {
		return Runs{}
	}
	t := &s.Summary
	vacuous := 0
	for _, n := range t.Vacuous {
		vacuous += n
	}
	return Runs{Runs: t.Placements, Evidence: t.Struck - vacuous, Violating: t.Violating, Labels: t.Violations}
}

// mode is what the matrix came to in a mode, if it ran in it.
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

// oneIf is 1 for yes.
func reviewOneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
