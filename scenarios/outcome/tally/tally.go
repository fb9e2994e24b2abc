package tally

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// Tally counts the results of the runs of a search. Tallies of consecutive parts of
// a search add up to that of the whole.
type Tally struct {
	// Runs counts the runs that ended.
	Runs int `json:"runs"`
	// Evidence counts the runs that are evidence about the lock: a violation was
	// seen, or clients contended and faults struck, if there were any.
	Evidence int `json:"evidence"`
	// Vacuous counts the other runs by the reason why they are no evidence.
	Vacuous map[string]int `json:"vacuous,omitempty"`
	// Calls counts the calls of the lock by how they ended.
	Calls checker.Calls `json:"calls,omitzero"`
	// Errors has the errors with which calls ended, the most frequent first: see [checker.Verdict.Errors].
	Errors []checker.CallError `json:"errors,omitempty"`
	// NoticedLate is the longest time that a loss was noticed late in any of the runs, in nanoseconds: see
	// [checker.Facts.NoticedLateSeconds].
	NoticedLate time.Duration `json:"noticed_late,omitzero"`
	// Connections is the greatest number of connections to the servers of the lock that a client had open at the end of a
	// run without exhausted pools.
	Connections int `json:"connections,omitempty"`
	// PerSecond is how often a client sent something, at most, while it waited for the lock: see
	// [evidence.AskedPerSecond].
	PerSecond int `json:"per_second,omitempty"`
	// Undisturbed counts the runs that nothing disturbed: no fault was felt, and no call had a limit but Acquire.
	Undisturbed int `json:"undisturbed,omitempty"`
	// NotHeld counts those of them in which a Release returned that the lock was not held, although its lease had no end
	// or had not ended.
	NotHeld int `json:"undisturbed_not_held,omitempty"`
	// Nearest is the nearest miss of the runs that are evidence and have no violation. It is absent if none of them has
	// one.
	Nearest *NearMiss `json:"nearest_miss,omitempty"`
	// Unknown counts the runs in which a server did not know something, by what it was: see [outcome.ModeRun.Unknown].
	Unknown map[string]int `json:"unknown,omitempty"`
	// Fenced counts what was tried with a store under test, in the runs that ended.
	Fenced checker.FenceTries `json:"fenced,omitzero"`
	// Rare counts the runs that reached a rare path of the simulated world, by its name: see package locksim/sim/rare.
	Rare map[string]int `json:"rare_paths,omitempty"`
	// Violating counts the runs with a violation.
	Violating int `json:"violating"`
	// Violations counts the runs with a violation of each label.
	Violations map[checker.Label]int `json:"violations,omitempty"`
	// Nondeterministic counts the runs whose repetition differed from them.
	Nondeterministic int `json:"nondeterministic"`
	// Failed counts the runs that did not end for a reason that ends the search.
	Failed int `json:"failed"`
	// NoVerdict counts the runs without a verdict: they were frozen, left goroutines behind, or came to a limit. They are
	// neither in Runs nor evidence. A search bears a few: see [Tally.TooMany].
	NoVerdict int `json:"no_verdict,omitempty"`
	// Differing counts the runs that came out differently when they were played again, none of ten with a violation, of a
	// lock that is none of this project. They are neither in Runs nor evidence. A search bears a few: see [Tally.TooMany].
	Differing int `json:"differing,omitempty"`
	// Faults counts the faults by kind.
	Faults map[string]FaultTally `json:"faults,omitempty"`
	// Classes counts the runs with faults of each class.
	Classes map[promise.Fault]ClassTally `json:"classes,omitempty"`
	// Events counts the events of the traces.
	Events int `json:"events"`
	// Virtual is the virtual time of the worlds, in nanoseconds.
	Virtual time.Duration `json:"virtual"`
	// Unsteady is the first run whose repetition differed from it.
	Unsteady *BadRun `json:"unsteady,omitempty"`
	// Broken is the first run that did not end.
	Broken *BadRun `json:"broken,omitempty"`
	// Unjudged is the first run without a verdict.
	Unjudged *BadRun `json:"unjudged,omitempty"`
	// Unequal is the first run that came out differently.
	Unequal *BadRun `json:"unequal,omitempty"`
}

// Made counts the runs that were made, those that say nothing too.
func (t *Tally) Made() int { return t.Runs + t.Failed + t.NoVerdict + t.Differing }

// FaultTally counts the faults of one kind.
type FaultTally struct {
	// Planned counts those of all schedules.
	Planned int `json:"planned"`
	// Struck counts those that struck.
	Struck int `json:"struck"`
	// Felt counts those of them that had a consequence.
	Felt int `json:"felt"`
	// Violating counts the runs with a violation in which one struck.
	Violating int `json:"violating"`
}

// ClassTally counts the runs with faults of one class.
type ClassTally struct {
	// Struck counts the runs in which one struck.
	Struck int `json:"struck"`
	// Evidence counts the runs that are evidence and in which one was felt.
	Evidence int `json:"evidence"`
	// Violating counts the runs with a violation in which one was felt.
	Violating int `json:"violating"`
}

// NearMiss is a run in which two clients missed having the lock at once: see [checker.Verdict.NearestMiss].
type NearMiss struct {
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Faults are the faults that a sweep had placed.
	Faults string `json:"faults,omitempty"`
	// Slack is by how much they missed it, and where.
	Slack checker.Slack `json:"slack"`
}

// String is the miss in words, with what tells its run from others.
func (n *NearMiss) String() string {
	if n.Faults != "" {
		return fmt.Sprintf("%s (%s)", n.Slack.Miss(), n.Faults)
	}
	return fmt.Sprintf("%s (seed %d)", n.Slack.Miss(), n.Seed)
}

// BadRun is a run without a valid result.
type BadRun struct {
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Faults are the faults that a sweep had placed.
	Faults string `json:"faults,omitempty"`
	// Why is an error, in words.
	Why string `json:"why"`
	// All is what a reader needs who is to mend it, where Why is only a line.
	All string `json:"all,omitempty"`
}

// Missed is the reason why a run is vacuous in which some fault of the schedule did
// not strike, for searches that need all of them to strike.
const Missed = "not every fault struck"

// Add adds the tally of later runs.
func (t *Tally) Add(later Tally) {
	t.Runs += later.Runs
	t.Evidence += later.Evidence
	t.Vacuous = AddCounts(t.Vacuous, later.Vacuous)
	t.Calls, t.Errors = t.Calls.Plus(later.Calls), checker.AddErrors(t.Errors, later.Errors)
	t.Fenced.Add(later.Fenced)
	t.NoticedLate = max(t.NoticedLate, later.NoticedLate)
	t.Connections, t.PerSecond = max(t.Connections, later.Connections), max(t.PerSecond, later.PerSecond)
	t.Undisturbed += later.Undisturbed
	t.NotHeld += later.NotHeld
	if later.Nearest != nil && (t.Nearest == nil || later.Nearest.Slack.Nearer(t.Nearest.Slack)) {
		t.Nearest = later.Nearest
	}
	t.Unknown = AddCounts(t.Unknown, later.Unknown)
	t.Rare = AddCounts(t.Rare, later.Rare)
	t.Violating += later.Violating
	t.Violations = AddCounts(t.Violations, later.Violations)
	t.Nondeterministic += later.Nondeterministic
	t.Failed += later.Failed
	t.NoVerdict += later.NoVerdict
	t.Differing += later.Differing
	t.Faults = AddTallies(t.Faults, later.Faults)
	t.Classes = AddTallies(t.Classes, later.Classes)
	t.Events += later.Events
	t.Virtual += later.Virtual
	if t.Unsteady == nil {
		t.Unsteady = later.Unsteady
	}
	if t.Broken == nil {
		t.Broken = later.Broken
	}
	t.Unjudged, t.Unequal = cmp.Or(t.Unjudged, later.Unjudged), cmp.Or(t.Unequal, later.Unequal)
}

// Labels are the labels of the violations, the worst first.
func (t *Tally) Labels() []checker.Label {
	return slices.SortedFunc(maps.Keys(t.Violations), func(a, b checker.Label) int { return b.Severity() - a.Severity() })
}

// plus is the sum of two tallies.
func (n FaultTally) plus(m FaultTally) FaultTally { //nolint:unused // AddTallies calls it
	return FaultTally{n.Planned + m.Planned, n.Struck + m.Struck, n.Felt + m.Felt, n.Violating + m.Violating}
}

// plus is the sum of two tallies.
func (n ClassTally) plus(m ClassTally) ClassTally { //nolint:unused // AddTallies calls it
	return ClassTally{n.Struck + m.Struck, n.Evidence + m.Evidence, n.Violating + m.Violating}
}

// AddTallies adds tallies to others, in place if there are any.
func AddTallies[K comparable, T interface{ plus(T) T }](tallies, others map[K]T) map[K]T {
	if tallies == nil && len(others) > 0 {
		tallies = map[K]T{}
	}
	for key, n := range others {
		tallies[key] = tallies[key].plus(n)
	}
	return tallies
}

// AddCounts adds counts to others, in place if there are any.
func AddCounts[K comparable](counts, others map[K]int) map[K]int {
	if counts == nil && len(others) > 0 {
		counts = map[K]int{}
	}
	for key, n := range others {
		counts[key] += n
	}
	return counts
}

// RateBound is the highest rate of violations with which the seen number of
// violations is consistent at 95 %: at a higher rate, as few would be seen less
// than once in twenty times (Clopper and Pearson, one-sided). Without any violation
// it is nearly 3/runs. It holds only for the generator that drew the runs. Without
// runs it is 1.
func RateBound(violations, runs int) float64 {
	if violations >= runs {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		rate := (low + high) / 2
		if atMost(violations, runs, rate) > 0.05 {
			low = rate
		} else {
			high = rate
		}
	}
	return high
}

// atMost is the probability of at most so many violations in n runs.
func atMost(violations, n int, rate float64) float64 {
	logFactorial := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	total := 0.0
	for k := 0; k <= violations; k++ {
		ways := logFactorial(n) - logFactorial(k) - logFactorial(n-k)
		total += math.Exp(ways + float64(k)*math.Log(rate) + float64(n-k)*math.Log1p(-rate))
	}
	return total
}
