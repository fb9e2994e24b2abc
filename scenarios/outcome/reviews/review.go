package reviews

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
)

// Review is what the review of a design needs to know of one lock: how it works and
// what it promises, what was measured, what broke it and the effect of each fence
// on that, and what follows from the figures by written rules; see [Rules].
//
// It is a plain value. Everything in it except the versions depends on the plan
// alone: it has no wall times, and is the same on every machine.
type Review struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Kind is "review".
	Kind string `json:"kind"`
	// Plan is all that decides the content of the review.
	Plan Plan `json:"plan"`
	// Lock is the lock that is reviewed.
	Lock Lock `json:"lock"`
	// Figures are what the rules look at.
	Figures Figures `json:"figures"`
	// Answer is the review in a paragraph.
	Answer string `json:"answer"`
	// Advice is the recommendation for each use.
	Advice []Advice `json:"advice"`
	// Questions are those that the figures leave for the team to answer.
	Questions []Rule `json:"questions"`
	// Failures are the ways in which it was broken, those within its promise
	// first, then the worst first.
	Failures []Failure `json:"failures"`
	// Scenarios are the scenarios of the library in which the lock was run.
	Scenarios []Scenario `json:"scenarios"`
	// NotRun are the scenarios of the library in which the lock was not run, each
	// with the reason.
	NotRun []Gap `json:"not_run"`
	// Catalogue are the failure modes that no scenario shows, each with the reason.
	Catalogue []Gap `json:"catalogue_not_shown"`
	// NeverDrawn are kinds of fault that no drawn schedule had.
	NeverDrawn []string `json:"never_drawn"`
	// Parts are the measurements.
	Parts
	// Go is the version of Go that the hashes hold for.
	Go string `json:"go"`
	// Modules are the versions of the modules that the hashes hold for.
	Modules map[string]string `json:"modules,omitempty"`
}

const (
	// Version is the version of reviews as JSON.
	Version = 1
	// Kind is the kind of a review as JSON.
	Kind = "review"
)

// Plan is everything that decides the result of a review.
type Plan struct {
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seeds are the seeds of every cell of the matrix.
	Seeds outcome.Seeds `json:"seeds"`
	// Runs is how many random schedules are tried within the promise.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// AllRuns is how many random schedules are tried with every fault.
	AllRuns int `json:"runs_with_every_fault" jsonschema:"minimum=1"`
	// Faults are the names of the classes and kinds of fault that the explorations
	// and the sweep may use, instead of every fault. Null means every fault.
	Faults []string `json:"faults" jsonschema:"nullable"`
	// Swept is the scenario of the sweep.
	Swept string `json:"swept"`
}

// Tried is "every fault", or the names of those to which the searches are limited.
func (p Plan) Tried() string { return tried(p.Faults) }

func tried(names []string) string {
	switch {
	case names == nil:
		return "every fault"
	case len(names) == 0:
		return "no fault"
	}
	return "only " + prose.Commas(names)
}

// Lock is the lock that is reviewed.
type Lock struct {
	// Name is the name of the lock.
	Name string `json:"name"`
	// About says how the lock works; empty where its author has not written that.
	About string `json:"about" jsonschema:"minLength=0"`
	// Nodes is how many servers the lock needs.
	Nodes int `json:"nodes" jsonschema:"minimum=1"`
	// Tokens says whether the lock mints fencing tokens.
	Tokens bool `json:"tokens"`
	// Promises says whether the lock promises anything.
	Promises bool `json:"promises"`
	// Promise is what the lock promises.
	Promise promise.Promise `json:"promise"`
	// Unpromised are the classes of fault of which the promise does not speak.
	Unpromised []promise.Fault `json:"unpromised"`
	// Judged is the fencing mode in which it is judged: that of its promise or,
	// without one, none for a lock that mints no tokens, and else seal.
	Judged fence.Mode `json:"judged_in"`
}

// Parts are the measurements of a review. Each is nil if it was not made; Missing
// says why.
type Parts struct {
	// Matrix is the lock in every scenario of the library that is about it.
	Matrix *matrices.Matrix `json:"matrix" jsonschema:"nullable"`
	// Within is an exploration in which the lock is judged by its promise.
	Within *explorations.Exploration `json:"within" jsonschema:"nullable"`
	// All is an exploration with every fault, in which the lock is judged as if it
	// promised everything.
	All *explorations.Exploration `json:"all"`
	// Sweep is a sweep of single faults in one scenario.
	Sweep *sweeps.Sweep `json:"sweep" jsonschema:"nullable"`
	// Missing are the parts that were not made.
	Missing []Gap `json:"missing"`
}

// Gap is something that was not run, and why.
type Gap struct {
	// What is what was not run.
	What string `json:"what"`
	// Why is the reason.
	Why string `json:"why"`
}

// Timeless removes from the parts everything that differs from run to run, and the
// results of single jobs, which their summaries contain.
func (p Parts) Timeless() {
	if p.Matrix != nil {
		p.Matrix.Timing = matrices.Timing{Go: p.Matrix.Timing.Go, Modules: p.Matrix.Timing.Modules}
	}
	for _, e := range []*explorations.Exploration{p.Within, p.All} {
		if e != nil {
			e.Timing, e.Blocks = explorations.NewTiming(), []explorations.Block{}
		}
	}
	if p.Sweep != nil {
		p.Sweep.Timing, p.Sweep.Blocks = explorations.NewTiming(), []sweeps.Block{}
	}
}

// Conclude sets what follows from the rest of the review: the figures, the advice, the questions and the answer.
func (r *Review) Conclude() {
	r.neverDrawn()
	r.Figures = newReviewFigures(r)
	r.Advice, r.Questions = r.Figures.Advice(), r.Figures.Questions()
	r.Answer = r.Figures.answer(r.Advice)
}

// CellsOf are the cells of one scenario.
func (r *Review) CellsOf(scenario string) []matrices.Cell {
	if r.Matrix == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Matrix.Cells), func(c matrices.Cell) bool { return c.Scenario != scenario })
}

// WhyNot is why a scenario has no cells, if the matrix has a reason.
func (r *Review) WhyNot(scenario string) string {
	if r.Matrix == nil {
		return ""
	}
	for _, g := range slices.Concat(r.Matrix.NotRun, r.Matrix.Failures) {
		if g.Scenario == scenario {
			return g.Why
		}
	}
	return ""
}

// neverDrawn finds the kinds of fault that no drawn schedule had.
func (r *Review) neverDrawn() {
	drawn := map[string]tally.FaultTally{}
	for _, e := range []*explorations.Exploration{r.Within, r.All} {
		if e != nil {
			maps.Copy(drawn, e.Summary.Faults)
		}
	}
	for _, k := range faults.Kinds() {
		if _, ok := drawn[k.Name]; !ok {
			r.NeverDrawn = append(r.NeverDrawn, k.Name)
		}
	}
}

// JSON is the review as one indented document.
func (r *Review) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write the review of %s as JSON: %w", r.Plan.Lock, err)
	}
	return b.Bytes(), nil
}
