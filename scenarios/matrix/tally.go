package matrix

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Tally is what the runs of one scenario, lock and mode came to, seed by
// seed. Tallies of consecutive seeds can be put together.
type Tally struct {
	Mode fence.Mode `json:"mode"`
	// Runs counts the runs.
	Runs int `json:"runs"`
	// Labels are the labels that were seen, worst first.
	Labels []LabelTally `json:"labels"`
	// Contended counts the runs in which an acquire was contended, AllFired
	// those in which every fault of the schedule fired, Partial those in which
	// the lock acted during a pause.
	Contended int `json:"contended"`
	AllFired  int `json:"all_fired"`
	Partial   int `json:"partial"`
	// NonVacuous counts the runs that were contended, in which every fault
	// fired, and whose pauses were whole: if one is safe, that says something.
	NonVacuous int `json:"non_vacuous"`
	// Fired counts for each fault of the schedule the runs in which it fired.
	Fired []int `json:"fired"`
	// Events counts what the worlds delivered; Virtual is their virtual time.
	Events  int           `json:"events"`
	Virtual time.Duration `json:"virtual"`
	// Digest is a hash of the hashes of all traces.
	Digest string `json:"digest"`
}

// LabelTally is one label and the runs that had it.
type LabelTally struct {
	Label checker.Label `json:"label"`
	// Seeds counts the runs, NonVacuous those of them that were not vacuous.
	Seeds      int `json:"seeds"`
	NonVacuous int `json:"non_vacuous"`
	// Seed is the first one; of those that are safe, the first one that is not
	// vacuous, if there is one. TraceHash is the hash of its run.
	Seed      uint64 `json:"seed"`
	TraceHash string `json:"trace_hash"`
}

// add counts one run.
func (t *Tally) add(seed uint64, m *play.ModeRun) {
	one := Tally{Mode: m.Mode, Runs: 1, Events: m.Events, Virtual: m.Virtual, Digest: m.TraceHash,
		Contended: oneIf(m.Verdict.Facts.Contended > 0), AllFired: oneIf(!slices.Contains(m.FaultsFired, false)),
		Partial: oneIf(m.PartialPause)}
	for _, fired := range m.FaultsFired {
		one.Fired = append(one.Fired, oneIf(fired))
	}
	one.NonVacuous = oneIf(one.Contended == 1 && one.AllFired == 1 && one.Partial == 0)
	one.Labels = []LabelTally{{Label: m.Verdict.Label, Seeds: 1, NonVacuous: one.NonVacuous, Seed: seed, TraceHash: m.TraceHash}}
	t.Add(one)
}

// oneIf is 1 for yes.
func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Add puts the tally of later seeds to that of earlier ones.
func (t *Tally) Add(later Tally) {
	t.Mode = later.Mode
	t.Runs += later.Runs
	t.Contended += later.Contended
	t.AllFired += later.AllFired
	t.Partial += later.Partial
	t.NonVacuous += later.NonVacuous
	t.Events += later.Events
	t.Virtual += later.Virtual
	t.Digest = chained(t.Digest, later.Digest)
	for i, n := range later.Fired {
		if i == len(t.Fired) {
			t.Fired = append(t.Fired, 0)
		}
		t.Fired[i] += n
	}
	for _, l := range later.Labels {
		t.addLabel(l)
	}
}

func (t *Tally) addLabel(later LabelTally) {
	i := slices.IndexFunc(t.Labels, func(l LabelTally) bool { return l.Label == later.Label })
	if i < 0 {
		t.Labels = append(t.Labels, later)
		slices.SortFunc(t.Labels, func(a, b LabelTally) int { return cmp.Compare(b.Label.Severity(), a.Label.Severity()) })
		return
	}
	l := &t.Labels[i]
	if l.Label == checker.Safe && l.NonVacuous == 0 && later.NonVacuous > 0 {
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
