package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// The budgets of [Corroborate]. They count work and not time, so that the same
// history has the same result on any machine. Writes of unknown outcome are what
// makes the search explode; the steps bound that.
const (
	// MaxSearchOperations bounds the operations of one cell or one lock.
	MaxSearchOperations = 2_000
	// MaxSearchSteps bounds the model's steps in the search over one of them.
	MaxSearchSteps = 200_000
)

// Agreement says how a second opinion relates to the facts.
type Agreement string

// The agreements.
const (
	// Agrees means that the search came to the same result.
	Agrees Agreement = "agrees"
	// Contradicts means that it did not: one of the two checks is wrong.
	Contradicts Agreement = "contradicts"
	// Skipped means that a budget was too small, or the data undecided: there is
	// no second opinion. It says nothing for or against the facts.
	Skipped Agreement = "skipped"
)

// Corroboration is a second opinion on a verdict.
type Corroboration struct {
	Agreement Agreement `json:"agreement"`
	// Why says what was compared, which cell or lock differs, or which budget ran
	// out.
	Why string `json:"why"`
}

// Corroborate asks porcupine's search for a linearization the same questions as
// the exact checks: can each cell have come to its final value, and did the
// claims on each resource exclude each other? facts are those of h's verdict.
//
// It starts goroutines of its own, so it must not run inside a synctest bubble.
// The error wraps [ErrMalformed].
func Corroborate(h History, facts Facts) (Corroboration, error) {
	if err := h.Validate(); err != nil {
		return Corroboration{}, fmt.Errorf("corroborate: %w", err)
	}
	if facts.Data == DataUndecided {
		return Corroboration{Skipped, "the exact check did not decide the data"}, nil
	}
	data, locks := searchData(h), searchLocks(h)
	for _, s := range []search{data, locks} {
		if s.skipped != "" {
			return Corroboration{Skipped, s.skipped}, nil
		}
	}
	if data.found() != (facts.Data == DataRight) {
		return Corroboration{Contradicts, fmt.Sprintf("the data is %s, yet the search %s", facts.Data, data)}, nil
	}
	if locks.found() != (facts.ClaimOverlaps == 0) {
		return Corroboration{Contradicts, fmt.Sprintf("claim overlaps: %d, yet the search %s", facts.ClaimOverlaps, locks)}, nil
	}
	return Corroboration{Agrees, fmt.Sprintf("searched %d cells and %d locks", data.parts, locks.parts)}, nil
}

// search is the result of a search over several parts: cells or locks.
type search struct {
	parts   int
	failed  []string // parts without a linearization
	skipped string   // why there is no result
}

// found says that each part has a linearization.
func (s search) found() bool { return len(s.failed) == 0 }

// String returns the end of a sentence that starts with "the search".
func (s search) String() string {
	if s.found() {
		return "found an order for all"
	}
	return fmt.Sprintf("found no order for %q", s.failed)
}

// try searches one part.
func (s *search) try(name string, ops []porcupine.Operation, model porcupine.NondeterministicModel) {
	s.parts++
	if len(ops) > MaxSearchOperations {
		s.skipped = fmt.Sprintf("%s has %d operations, more than %d", name, len(ops), MaxSearchOperations)
		return
	}
	steps := 0
	step := model.Step
	model.Step = func(state, input, output any) []any {
		if steps++; steps > MaxSearchSteps {
			return nil // whatever is left fails at once
		}
		return step(state, input, output)
	}
	found := porcupine.CheckOperations(model.ToModel(), ops)
	switch {
	case steps > MaxSearchSteps:
		s.skipped = fmt.Sprintf("the search over %s took more than %d steps", name, MaxSearchSteps)
	case !found:
		s.failed = append(s.failed, name)
	}
}

// searchData looks for an order of the units of each cell.
func searchData(h History) search {
	var s search
	for _, c := range cellHistories(h) {
		s.try(c.cell.String(), cellOperations(c), cellModel)
	}
	return s
}

// cellOperations returns the units of a cell, and the epilogue read after them.
func cellOperations(c cellHistory) []porcupine.Operation {
	us := units(c.ops)
	end := Pos(1)
	for _, u := range us {
		end = max(end, u.from)
		if u.sure {
			end = max(end, u.to)
		}
	}
	epilogue := unit{op: &Op{Kind: Read, Saw: c.final}, from: end + 1, to: end + 1, sure: true}
	var ops []porcupine.Operation
	for _, u := range append(us, epilogue) {
		// A write of unknown outcome may come as late as it likes, even after the
		// epilogue: then it has had no effect.
		ops = append(ops, porcupine.Operation{Input: u, Call: int64(u.from), Return: int64(min(u.to, end+2))})
	}
	return ops
}

// cellModel is a register whose value is an id. A write takes effect on the value
// that its section had read; one of unknown outcome may also do nothing.
var cellModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		u := input.(unit)
		var next []any
		if !u.sure {
			next = append(next, state)
		}
		if state != u.op.Saw {
			return next
		}
		if u.op.Kind == Read {
			return []any{state}
		}
		return append(next, u.op.ID)
	},
}

// searchLocks looks for an order in which each resource has one holder at a time.
func searchLocks(h History) search {
	var s search
	for _, grants := range grantsByResource(h) {
		s.try(grants[0].Resource, lockOperations(grants), lockModel)
	}
	return s
}

// turn is a grant's acquire, or what ended its claim.
type turn struct {
	grant int
	ends  bool
}

// lockOperations returns an acquire for each grant that has a claim, and a
// release at the very instant at which the claim ends, whatever ended it. A claim
// without end has none.
func lockOperations(grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		c := g.Claim()
		if c.Empty() {
			continue
		}
		ops = append(ops, porcupine.Operation{Input: turn{grant: g.ID}, Call: int64(g.Invoked), Return: int64(g.Granted)})
		if c.End > 0 {
			ops = append(ops, porcupine.Operation{Input: turn{grant: g.ID, ends: true}, Call: int64(c.End), Return: int64(c.End)})
		}
	}
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// lockModel is a lock: its state is the grant that holds it, 0 when it is free.
var lockModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{0} },
	Step: func(state, input, _ any) []any {
		t := input.(turn)
		switch {
		case !t.ends && state == 0:
			return []any{t.grant}
		case t.ends && state == t.grant:
			return []any{0}
		}
		return nil
	},
}
