package checker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The budgets of [Corroborate]. They count work and not time, so that the same
// history has the same result on any machine. Writes of unknown outcome make
// the search exponential; the steps bound that.
const (
	// maxSearchOperations bounds the operations of one cell or one lock.
	maxSearchOperations = 2_000
	// maxSearchSteps bounds the model's steps in the search over one of them.
	maxSearchSteps = 200_000
)

// Agreement says how a second opinion relates to the facts.
type Agreement string

// The agreements.
const (
	// Agrees means that the search had the same result.
	Agrees Agreement = "agrees"
	// Contradicts means that it had not: one of the two checks is wrong.
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
// the exact checks, each of a sequential model:
//
//   - Can each cell, and with several writes a section each resource, have come to
//     its final value? ([Facts.Data])
//   - Can a store that keeps its rule have given all answers about each cell, where the store is under test?
//     ([History.Fence]; [Facts.StaleAccepted], [Facts.LostUpdates], [Facts.Unexplained], [Facts.FalseRejects])
//   - Did the claims on each resource exclude each other, or in a reentrant lock
//     those of different clients? ([Facts.ClaimOverlaps])
//   - Did tokens grow from grant to grant, and from claim to claim?
//     ([Facts.TokenRegressions], [Facts.TokenDuplicates]; asked of grants that have one)
//   - Did the holders of a fair lock follow each other in the order of the queue?
//     ([Facts.Overtaken], [Facts.ClaimOverlaps])
//
// facts are those of h's verdict. One contradiction outweighs any number of
// questions that were skipped.
//
// It starts goroutines, so it must not run inside a synctest bubble. The error
// wraps [ErrMalformed].
func Corroborate(h History, facts Facts) (Corroboration, error) {
	if err := h.Validate(); err != nil {
		return Corroboration{}, fmt.Errorf("corroborate: %w", err)
	}
	c := Corroboration{Agreement: Agrees}
	var searched []string
	for _, q := range questions(h, facts) {
		found := q.search()
		switch {
		case found.contradicts(q.holds):
			return Corroboration{Contradicts, fmt.Sprintf("%s, yet the search %s", q.fact, found)}, nil
		case found.skipped != "" && c.Agreement == Agrees:
			c = Corroboration{Skipped, found.skipped}
		case found.parts > 0:
			searched = append(searched, fmt.Sprintf("%s: %d", q.parts, found.parts))
		}
	}
	if c.Agreement == Agrees {
		c.Why = "searched " + cmp.Or(strings.Join(searched, ", "), "nothing")
	}
	return c, nil
}

// question is a question for the search, with the answer of the exact check.
type question struct {
	fact   string // for the sentence
	holds  bool
	parts  string // the parts that are searched one by one
	search func() search
}

// questions returns those that apply to the history.
func questions(h History, f Facts) []question {
	owner := fmt.Sprintf("claim overlaps: %d", f.ClaimOverlaps)
	all := []question{
		{owner, f.ClaimOverlaps == 0, "locks", func() search { return searchAll(lockParts(h)) }},
		{fmt.Sprintf("token regressions: %d, duplicates: %d", f.TokenRegressions, f.TokenDuplicates),
			f.TokenRegressions+f.TokenDuplicates == 0, "counters", func() search { return searchAll(tokenParts(h)) }},
	}
	if h.Queue == QueueFair {
		all = append(all, question{fmt.Sprintf("%s, overtaken: %d", owner, f.Overtaken),
			f.ClaimOverlaps+f.Overtaken == 0, "queues", func() search { return searchAll(queueParts(h)) }})
	}
	if f.Data == DataUndecided {
		return append(all, question{search: func() search {
			return search{skipped: "the exact check did not decide " +
				"the data"}
		}})
	}
	if h.Fence != "" {
		wrong := f.fenced()
		return append(all, question{fmt.Sprintf("the store gave wrong answers about %d registers", wrong), wrong == 0,
			"registers", func() search { return searchAll(fencedParts(h)) }})
	}
	return append(all, question{fmt.Sprintf("the data is %s", f.Data), f.Data == DataRight, "registers",
		func() search { return searchAll(dataParts(h)) }})
}

// search is the result of a search over several parts: cells or locks.
type search struct {
	parts   int
	failed  []string // parts without a linearization
	skipped string   // why a part has no result
}

// contradicts reports whether the search had the opposite result. A skipped
// part may have an order or none.
func (s search) contradicts(holds bool) bool {
	if len(s.failed) > 0 {
		return holds
	}
	return !holds && s.skipped == ""
}

// String returns the end of a sentence that starts with "the search".
func (s search) String() string {
	if len(s.failed) == 0 {
		return "found an order for all"
	}
	return fmt.Sprintf("found no order for %q", s.failed)
}

// part is the subject of one search: a cell, a lock, a counter, a queue.
type part struct {
	name  string
	ops   []porcupine.Operation
	model porcupine.NondeterministicModel
}

func searchAll(parts []part) search {
	var s search
	for _, p := range parts {
		s.try(p)
	}
	return s
}

func (s *search) try(p part) {
	s.parts++
	if len(p.ops) > maxSearchOperations {
		s.skipped = fmt.Sprintf("%s has %d operations, more than %d", p.name, len(p.ops), maxSearchOperations)
		return
	}
	model, exhausted := p.bounded()
	found := porcupine.CheckOperations(model, p.ops)
	switch {
	case exhausted():
		s.skipped = fmt.Sprintf("the search over %s took more than %d steps", p.name, maxSearchSteps)
	case !found:
		s.failed = append(s.failed, p.name)
	}
}

// bounded is a model whose steps fail after maxSearchSteps of them; the result
// is then meaningless.
func (p part) bounded() (m porcupine.Model, exhausted func() bool) {
	steps, model := 0, p.model
	model.Step = func(state, input, output any) []any {
		if steps++; steps > maxSearchSteps {
			return nil
		}
		return p.model.Step(state, input, output)
	}
	return model.ToModel(), func() bool { return steps > maxSearchSteps }
}
