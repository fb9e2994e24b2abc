package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/internal/dev/gotest"
)

// workshop runs tests, with and without a mutant.
type workshop struct{ gotest.Workshop }

// testLimit limits the tests of one package on the wall clock.
const testLimit = 5 * time.Minute

// outcome is the result of the test of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "SURVIVED"
	invalid  outcome = "DOES NOT COMPILE" // no statement about the tests
	endless  outcome = "DOES NOT END"     // no statement about the tests: the machine may be slow
)

// result is a mutant with its outcome.
type result struct {
	mutant
	outcome outcome
	detail  string // of a mutant that was not killed
}

// try runs the test of a mutant. An error is about the tool or the machine, never
// about the mutant.
func (w workshop) try(ctx context.Context, m mutant, overlay string) (result, error) {
	t, err := w.Run(ctx, m.pkg, m.pattern(), "-overlay", overlay)
	switch {
	case errors.Is(err, gotest.ErrHangs):
		return result{m, endless, err.Error()}, nil
	case err != nil:
		return result{}, fmt.Errorf("%s: %w", m.Name, err)
	case !t.Built:
		return result{m, invalid, t.Output}, nil
	case t.Tests[m.test] == "":
		return result{}, m.Errorf(2, "%s did not begin:\n%s", m.test, t.Output)
	case t.Passed:
		return result{m, survived, m.test + " passes with it"}, nil
	}
	return result{m, killed, ""}, nil
}

// soundness are tasks, one for each package, that fail if one of the mutants' tests does
// not pass without a mutant: such a test would seem to kill every mutant.
func (w workshop) soundness(mutants []mutant) []task {
	of := map[string][]mutant{}
	var tasks []task
	for _, m := range mutants {
		if of[m.pkg] == nil {
			tasks = append(tasks,
				task{m.pkg + " without a mutant", func(ctx context.Context) error { return w.sound(ctx, m.pkg, of[m.pkg]) }})
		}
		of[m.pkg] = append(of[m.pkg], m)
	}
	return tasks
}

func (w workshop) sound(ctx context.Context, pkg string, mutants []mutant) error {
	var names []string
	for _, m := range mutants {
		names = append(names, strings.Split(m.test, "/")[0])
	}
	slices.Sort(names)
	t, err := w.Run(ctx, pkg, "^("+strings.Join(slices.Compact(names), "|")+")$")
	if err != nil {
		return fmt.Errorf("the tests of %s without a mutant: %w", pkg, err)
	}
	if !t.Passed {
		return fmt.Errorf("the tests of %s fail without a mutant:\n%s", pkg, t.Output)
	}
	for _, m := range mutants {
		switch t.Tests[m.test] {
		case "pass":
		case "skip":
			return m.Errorf(2, "%s is skipped here", m.test)
		default:
			return m.Errorf(2, "%s has no test %s: write the new name of the test", pkg, m.test)
		}
	}
	return nil
}
