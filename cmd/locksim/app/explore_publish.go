package app

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/explore"
)

// explored is an exploration as it is published. dir is the folder that keeps
// it, or "". children is how many child processes may write its pages, failed is
// what kept jobs from having a result.
func (s explorations) explored(e *explore.Exploration, dir string, children int, failed error) finished {
	replay := func(i int, d explore.Distinct) string { return s.exploreReplay(e, dir, i, d) }
	return finished{
		kind:     explore.Kind,
		document: e,
		text:     func(w io.Writer, opt reports.Options) error { return terminal.Exploration(w, e, replay, opt) },
		files:    foundFiles(e),
		pages:    func() ([]document, error) { return s.explorePages(e, children) },
		notes:    exploreNotes(e, replay),
		problem:  s.exploreProblem(e, failed),
	}
}

// foundName is the file of the i-th violation, from 1 on.
func foundName(i int) string { return fmt.Sprintf("found-%d.json", i) }

// foundFiles are the smallest runs as replay reads them.
func foundFiles(e *explore.Exploration) []func() (document, error) {
	var all []func() (document, error)
	for i, d := range e.Summary.Distinct {
		all = append(all, func() (document, error) {
			data, err := d.Shown.Run.JSON()
			return document{foundName(i + 1), data}, err
		})
	}
	return all
}

// exploreReplay is the command that makes a violation again: from its file or,
// where there is none, by the seed in which it was found.
func (s explorations) exploreReplay(e *explore.Exploration, dir string, i int, d explore.Distinct) string {
	if dir != "" {
		return fmt.Sprintf("%s replay %s", s.command(), quote(filepath.Join(dir, foundName(i))))
	}
	return s.exploreAgain(&e.Plan, d.Shown.Seed)
}

// exploreAgain is the command that makes the run of a seed again.
func (s explorations) exploreAgain(plan *explore.Plan, seed uint64) string {
	text := fmt.Sprintf("%s explore --lock %s --from-seed %d --runs 1", s.command(), quote(plan.Lock), seed)
	if plan.Judge == explore.JudgePromise {
		text += " --promise"
	}
	if plan.Space.Faults != nil {
		text += " --faults " + classList(plan)
	}
	return text
}

func classList(plan *explore.Plan) string {
	if len(plan.Space.Faults) == 0 {
		return noFaults
	}
	var names []string
	for _, class := range plan.Space.Faults {
		names = append(names, string(class))
	}
	return strings.Join(names, ",")
}

// exploreNotes say to people what a program reads in the document.
func exploreNotes(e *explore.Exploration, replay terminal.ExploreReplay) []string {
	var notes []string
	for i, d := range e.Summary.Distinct {
		notes = append(notes, d.Shown.Headline(), "replay: "+replay(i+1, d))
	}
	return notes
}

// exploreProblem is the error that the exit code speaks of.
func (s explorations) exploreProblem(e *explore.Exploration, failed error) error {
	sum := &e.Summary
	first := sum.Unsteady
	if first == nil {
		first = sum.Broken
	}
	switch {
	case first != nil:
		return &brokenError{cause: errors.New(sum.Problems()[0]), replay: s.exploreAgain(&e.Plan, first.Seed)}
	case failed != nil:
		return failed
	case sum.Violating > 0:
		return errUnexpected
	}
	return nil
}
