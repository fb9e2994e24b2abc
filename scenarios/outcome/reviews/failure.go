package reviews

import (
	"cmp"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/failure"
)

// Failure is one way in which a lock was broken, the part of the review that found
// it, and its result in each fencing mode.
type Failure struct {
	failure.Failure
	// From is the part of the review that found the failure.
	From From `json:"from"`
	// Of is the number of runs in which Runs were found: those that are evidence
	// or, in a sweep, all.
	Of int `json:"of"`
	// Classes are the classes of its faults.
	Classes []promise.Fault `json:"classes"`
	// Fences are the same run, made in each fencing mode; empty before they are
	// made.
	Fences []Fence `json:"fences"`
	// Replay is the command that finds the failure again.
	Replay string `json:"replay"`
}

// Label is the first of the violations, of which the others may be consequences.
func (f *Failure) Label() checker.Label { return f.Violations[0].Label }

// From is the part of a review in which a failure was found.
type From string

// The parts of a review in which failures are found.
const (
	FromPromise From = "exploration within the promise"
	FromAll     From = "exploration with every fault"
	FromSweep   From = "sweep"
)

// Failures are the ways in which a lock was broken in the parts of a review, each
// shape once: those within its promise first, then the worst, those with the fewest
// faults, and the most frequent first. replay is the command that finds one again.
func Failures(p Parts, replay func(Failure) string) []Failure {
	all := []Failure{}
	add := func(from From, of int, found failure.Failures) {
		for _, f := range found {
			known := slices.ContainsFunc(all, func(other Failure) bool { return other.Shape == f.Shape })
			if known || f.Run == nil || len(f.Violations) == 0 { // without a violation, runs only differed
				continue
			}
			one := Failure{Failure: f, From: from, Of: of, Classes: []promise.Fault{}, Fences: []Fence{}}
			if sc, err := file.Parse(f.Run.File, []byte(f.Run.Source)); err == nil {
				one.Classes = ClassesIn(sc.Faults)
			}
			one.Replay = replay(one)
			all = append(all, one)
		}
	}
	if e := p.Within; e != nil {
		add(FromPromise, e.Summary.Evidence, e.Summary.Failures)
	}
	if e := p.All; e != nil {
		add(FromAll, e.Summary.Evidence, e.Summary.Failures)
	}
	if s := p.Sweep; s != nil {
		add(FromSweep, s.Summary.Placements(), s.Summary.Failures)
	}
	slices.SortStableFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(oneIf(a.From == FromAll), oneIf(b.From == FromAll)),
			cmp.Compare(b.Label().Severity(), a.Label().Severity()),
			cmp.Compare(a.Faults, b.Faults), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Shape, b.Shape))
	})
	return all
}

// Fence is the result of a failure in a fencing mode.
type Fence struct {
	// Mode is the fencing mode.
	Mode fence.Mode `json:"mode"`
	// Label is the label of the run in this mode.
	Label checker.Label `json:"label"`
	// Effect is what the fence did, compared with no fence.
	Effect FenceEffect `json:"effect"`
	// TraceHash is the hash of the trace of the run; absent where the mode needs
	// tokens and the lock mints none.
	TraceHash string `json:"trace_hash,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"`
}

// FenceEffect is the effect of a fence on a run, compared with the run without one.
type FenceEffect string

// The effects.
const (
	// NoFence is the run without a fence, with which the others are compared.
	NoFence FenceEffect = "no-fence"
	// FenceRescues means that no harm was done, and without a fence there was.
	FenceRescues FenceEffect = "rescues"
	// FenceCosts means that the data is right, which without a fence it is not, but
	// another harm was done instead: a rightful holder was refused.
	FenceCosts FenceEffect = "rescues-at-a-price"
	// FenceFails means that the harm is done with it, too.
	FenceFails FenceEffect = "does-not-rescue"
	// FenceHarms means that a harm was done that is absent without a fence.
	FenceHarms FenceEffect = "harms"
	// FenceIdle means that no harm was done, with it or without.
	FenceIdle FenceEffect = "nothing-to-rescue"
	// FenceUndecided means that the data was not decided.
	FenceUndecided FenceEffect = "undecided"
	// FenceNeedsTokens means that the mode needs tokens, and the lock mints none.
	FenceNeedsTokens FenceEffect = "needs-tokens"
)

// EffectOf compares the labels of a run without a fence and with one.
func EffectOf(without, with checker.Label) FenceEffect {
	switch {
	case with == checker.NotApplicable:
		return FenceNeedsTokens
	case with == checker.Unknown || without == checker.Unknown:
		return FenceUndecided
	case harmful(with) && !harmful(without):
		return FenceHarms
	case harmful(with) && without == checker.Corrupted && with != checker.Corrupted:
		return FenceCosts
	case harmful(with):
		return FenceFails
	case harmful(without):
		return FenceRescues
	}
	return FenceIdle
}
