package matrices

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
)

// Cell is the result of one scenario with one lock under one fencing mode.
type Cell struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string     `json:"lock"`
	Mode fence.Mode `json:"mode"`
	// Label is the worst label of all seeds.
	Label checker.Label `json:"label"`
	// Expected is the worst label that the scenario expects of seeds 1 to 20. It is
	// absent if the scenario expects none.
	Expected checker.Label `json:"expected,omitempty"`
	Match    Match         `json:"match"`
	// Vacuous says why the label proves nothing. It is absent if the label proves
	// something.
	Vacuous string `json:"vacuous,omitempty"`
	// NotFelt says why the lock did not feel the faults of a safe cell: "no client read
	// its wall clock". Its runs are as without the faults: neither a pass nor vacuous.
	// It is absent if the lock felt them.
	NotFelt string `json:"not_felt,omitempty"`
	// CellRuns are the figures. They are nil if the mode needs tokens and the
	// lock mints none.
	*CellRuns
}

// CellRuns are the figures behind a cell.
type CellRuns struct {
	// SeedsWithLabel counts the seeds with the label; in a safe cell of which the
	// lock felt the faults, only those that are not vacuous.
	SeedsWithLabel int `json:"seeds_with_label"`
	// Seeds counts the seeds that were run.
	Seeds int `json:"seeds" jsonschema:"minimum=1"`
	// Seed is the first seed with the label.
	Seed uint64 `json:"seed"`
	// TraceHash is the hash of the trace of that seed.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Replay is the command that repeats that run.
	Replay string `json:"replay"`
	// Labels counts the seeds by label.
	Labels map[checker.Label]int `json:"labels" jsonschema:"minProperties=1"`
	// NonVacuous counts the runs that are evidence ([outcome.Vacuous]) and in which
	// every fault fired.
	NonVacuous int `json:"non_vacuous"`
	// Contended counts the runs in which clients contended.
	Contended int `json:"contended"`
	// AllFired counts the runs in which every fault of the schedule fired.
	AllFired int `json:"all_faults_fired"`
	// PartialPause counts the runs in which the lock acted during a pause.
	PartialPause int `json:"pause_partial"`
	// TwoClaims counts the runs in which two clients had the lock at once, by what it had promised to each.
	TwoClaims int `json:"two_claims"`
	// Lost counts the runs in which an acknowledged write was lost.
	Lost int `json:"lost"`
	// NeverFired are the numbers, from 1, of the faults that fired with no seed.
	NeverFired []int `json:"faults_never_fired,omitempty" jsonschema:"minimum=1"`
	// Events counts the events of all seeds.
	Events int `json:"events"`
	// VirtualSeconds is the virtual time of all seeds.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Digest is a hash of all traces: two matrices with the same digest have the
	// same events.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
}

// Match says how the worst label of a cell relates to what the scenario expects.
type Match string

// The matches.
const (
	// AsExpected means that no seed was worse, and, if seeds 1 to 20 are among
	// them, that one was as bad.
	AsExpected Match = "as-expected"
	// TooBad means that a seed was worse.
	TooBad Match = "worse"
	// TooGood means that with all of the seeds 1 to 20 none was as bad.
	TooGood Match = "milder"
	// NothingExpected means that the scenario has no expectation of this cell.
	NothingExpected Match = "nothing-expected"
)

// Problem describes what is wrong with a cell; "" if nothing is.
func (c Cell) Problem() string {
	var parts []string
	if c.Match == TooBad || c.Match == TooGood {
		parts = append(parts, fmt.Sprintf("%s, and %s was expected", c.Label, c.Expected))
	}
	if c.Vacuous != "" {
		parts = append(parts, "vacuous: "+c.Vacuous)
	}
	return strings.Join(parts, "; ")
}
