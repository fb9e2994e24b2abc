package matrix

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/search"
)

// Tally counts the results of the runs of one scenario, lock and mode, seed by
// seed. Tallies of consecutive seeds can be added.
//
// A matrix needs other counts than a search does. It judges runs by no promise, so
// that none is counted as violating. A run is evidence only if every fault struck
// too. And a cell needs for each label the first seed with it, and a digest of all
// traces in their order.
type Tally struct {
	tally.Tally
	Mode fence.Mode `json:"mode"`
	// Seen are the labels that were seen, worst first.
	Seen []LabelTally `json:"seen"`
	// Contended counts the runs in which an acquire was contended, AllFired
	// those in which every fault of the schedule fired, Partial those in which
	// the lock acted during a pause.
	Contended int `json:"contended"`
	AllFired  int `json:"all_fired"`
	Partial   int `json:"partial"`
	// TwoClaims counts the runs in which two clients had the lock at once, Lost those in which an acknowledged write was
	// lost.
	TwoClaims int `json:"two_claims"`
	Lost      int `json:"lost"`
	// Fired counts for each fault of the schedule the runs in which it fired.
	Fired []int `json:"fired"`
	// Points are the named points at which faults of the scenario strike and that a
	// client passed in one of the runs, sorted.
	Points []string `json:"points,omitempty"`
	// Digest is a hash of the hashes of all traces.
	Digest string `json:"digest"`
}

// LabelTally counts the runs with one label.
type LabelTally struct {
	Label checker.Label `json:"label"`
	// Seeds counts the runs, NonVacuous those of them that were not vacuous.
	Seeds      int `json:"seeds"`
	NonVacuous int `json:"non_vacuous"`
	// Seed is the first one; for safe runs, the first one that is not vacuous, if
	// there is one. TraceHash is the hash of its run.
	Seed      uint64 `json:"seed"`
	TraceHash string `json:"trace_hash"`
}

func (t *Tally) count(sc *file.Scenario, seed uint64, m *outcome.ModeRun) {
	one := Tally{Mode: m.Mode, Digest: m.TraceHash, Contended: oneIf(m.Verdict.Facts.Contended > 0),
		AllFired: oneIf(!slices.Contains(m.FaultsFired, false)), Partial: oneIf(m.PartialPause),
		TwoClaims: oneIf(m.Verdict.Facts.ClaimOverlaps > 0), Lost: oneIf(m.Verdict.Facts.LostUpdates > 0)}
	run := &search.Trial{Case: search.Case{Scenario: sc, Seed: seed},
		Outcome: &outcome.Outcome{Scenario: sc, Seed: seed, Modes: []outcome.ModeRun{*m}}}
	if run.Vacuous = outcome.Vacuous(run.Outcome); run.Vacuous == "" && one.AllFired == 0 {
		run.Vacuous = tally.Missed
	}
	one.Tally = run.Tally()
	for _, fired := range m.FaultsFired {
		one.Fired = append(one.Fired, oneIf(fired))
	}
	one.addPoints(passed(pointsOf(sc), m))
	one.Seen = []LabelTally{{Label: m.Verdict.Label, Seeds: 1, NonVacuous: one.Evidence, Seed: seed,
		TraceHash: m.TraceHash}}
	t.Add(one)
}

// Add adds the tally of later seeds.
func (t *Tally) Add(later Tally) {
	t.Tally.Add(later.Tally)
	t.Mode = later.Mode
	t.Contended += later.Contended
	t.AllFired += later.AllFired
	t.Partial += later.Partial
	t.TwoClaims += later.TwoClaims
	t.Lost += later.Lost
	t.Digest = chained(t.Digest, later.Digest)
	t.addPoints(later.Points)
	for i, n := range later.Fired {
		if i == len(t.Fired) {
			t.Fired = append(t.Fired, 0)
		}
		t.Fired[i] += n
	}
	for _, l := range later.Seen {
		t.addLabel(l)
	}
}

func (t *Tally) addLabel(later LabelTally) {
	i := slices.IndexFunc(t.Seen, func(l LabelTally) bool { return l.Label == later.Label })
	if i < 0 {
		t.Seen = append(t.Seen, later)
		slices.SortFunc(t.Seen, func(a, b LabelTally) int { return cmp.Compare(b.Label.Severity(), a.Label.Severity()) })
		return
	}
	l := &t.Seen[i]
	if l.Label.Clean() && l.NonVacuous == 0 && later.NonVacuous > 0 {
		l.Seed, l.TraceHash = later.Seed, later.TraceHash
	}
	l.Seeds += later.Seeds
	l.NonVacuous += later.NonVacuous
}

// chained is the hash of two hashes in their order.
func chained(a, b string) string {
	sum := sha256.Sum256([]byte(a + "\n" + b))
	return hex.EncodeToString(sum[:])
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
