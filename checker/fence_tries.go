package checker

import (
	"math"
	"strconv"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
)

// FenceTries counts what was tried with a store under test, over all registers of a history with [History.Fence]: what
// a fence must have met for its answers to say something.
type FenceTries struct {
	// Stale counts the operations that were sent when one with a higher token had been answered.
	Stale int `json:"stale,omitzero"`
	// Together counts the pairs of writes of different grants that were under way at once.
	Together int `json:"together,omitzero"`
	// Retries counts the writes that were sent once more.
	Retries int `json:"retries,omitzero"`
	// Unanswered counts those of Retries that had no answer before.
	Unanswered int `json:"unanswered,omitzero"`
	// Equal counts the pairs of writes of different grants with equal tokens.
	Equal int `json:"equal,omitzero"`
	// Digits counts the registers whose tokens came to need more digits.
	Digits int `json:"digits,omitzero"`
	// Wide counts the registers whose tokens came to need more than 32 bits, or than 31.
	Wide int `json:"wide,omitzero"`
	// Keys counts the pairs of registers of one history, of which the one had greater tokens than the other one.
	Keys int `json:"keys,omitzero"`
}

// fenceTry is a row of what is tried.
type fenceTry struct {
	text  string
	count func(*FenceTries) *int
	rule  fence.Mode // the only one under which it is tried; "" for each
}

var fenceTries = []fenceTry{
	{"operations that came after a newer one", func(t *FenceTries) *int { return &t.Stale }, ""},
	{"pairs of writes at once", func(t *FenceTries) *int { return &t.Together }, ""},
	{"writes sent again", func(t *FenceTries) *int { return &t.Retries }, ""},
	{"of them without an answer before", func(t *FenceTries) *int { return &t.Unanswered }, ""},
	{"pairs of writes of two holders with equal tokens", func(t *FenceTries) *int { return &t.Equal }, fence.Strict},
	{"keys whose tokens came to need more digits", func(t *FenceTries) *int { return &t.Digits }, ""},
	{"keys whose tokens came to need more than 31 or 32 bits", func(t *FenceTries) *int { return &t.Wide }, ""},
	{"pairs of keys with different tokens", func(t *FenceTries) *int { return &t.Keys }, ""},
}

// Add adds what was tried in other runs.
func (t *FenceTries) Add(other FenceTries) {
	for _, row := range fenceTries {
		*row.count(t) += *row.count(&other)
	}
}

// String lists what was tried.
func (t FenceTries) String() string {
	var all []string
	for _, row := range fenceTries {
		if n := *row.count(&t); n > 0 {
			all = append(all, row.text+" "+prose.Thousands(n))
		}
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// Missing lists what was not tried under a rule.
func (t FenceTries) Missing(rule fence.Mode) []string {
	var all []string
	for _, row := range fenceTries {
		if *row.count(&t) == 0 && (row.rule == "" || row.rule == rule) {
			all = append(all, row.text)
		}
	}
	return all
}

// FenceTries counts what was tried in a history with [History.Fence]; nothing in another one.
func (h History) FenceTries() (t FenceTries) {
	if h.Fence == "" {
		return t
	}
	cells := fencedCells(h)
	for i, c := range cells {
		c.count(&t)
		for _, other := range cells[:i] {
			if c.highest() != other.highest() {
				t.Keys++
			}
		}
	}
	return t
}

func (c fencedCheck) highest() (n uint64) {
	for _, o := range c.ops {
		n = max(n, o.Token)
	}
	return n
}

func (c fencedCheck) count(t *FenceTries) {
	lowest := uint64(math.MaxUint64)
	for i, o := range c.ops {
		lowest = min(lowest, o.Token)
		stale := false
		for j, other := range c.ops {
			stale = stale || other.answered() && other.Token > o.Token && other.Returned < o.Invoked
			if j >= i || o.Kind != Write || other.Kind != Write || o.Grant == other.Grant {
				continue
			}
			if !other.answered() || other.Returned > o.Invoked {
				t.Together++
			}
			if other.Token == o.Token {
				t.Equal++
			}
		}
		if stale {
			t.Stale++
		}
		if o.Again != "" {
			t.Retries++
			for _, first := range c.ops {
				if first.ID == o.Again && !first.answered() {
					t.Unanswered++
				}
			}
		}
	}
	highest := c.highest()
	if len(strconv.FormatUint(lowest, 10)) < len(strconv.FormatUint(highest, 10)) {
		t.Digits++
	}
	for _, most := range []uint64{math.MaxInt32, math.MaxUint32} {
		if lowest <= most && highest > most {
			t.Wide++
			break
		}
	}
}
