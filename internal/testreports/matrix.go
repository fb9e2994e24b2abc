package testreports

import (
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// Matrix is a matrix of some locks. The text of a scenario and a lock has the sign of
// the label of each mode; a pair with an empty text was not run.
func Matrix(locks []string, rows map[string][]string) *matrices.Matrix {
	m := &matrices.Matrix{Seeds: outcome.Seeds{First: 1, Last: 20}, Modes: fence.Modes(), Expected: true}
	for _, l := range locks {
		m.Locks = append(m.Locks, matrices.Column{Name: l})
	}
	var names []string
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.Scenarios = append(m.Scenarios, matrices.Row{Name: name, Title: "What happens in " + name,
			Catalogue: []string{"F11", "F12"}, File: "library/" + name + ".yaml", InLibrary: true})
		for i, text := range rows[name] {
			for j, sign := range text {
				m.Cells = append(m.Cells, matrixCell(name, locks[i], fence.Modes()[j], sign))
			}
		}
	}
	for _, c := range m.Cells {
		if c.CellRuns != nil {
			m.Totals.Cells++
		}
	}
	m.Totals.Runs, m.Totals.NonVacuous, m.Totals.VirtualSeconds = 20*m.Totals.Cells, 19*m.Totals.Cells,
		3700*float64(m.Totals.Cells)
	return m
}

func matrixCell(scenario, lock string, mode fence.Mode, sign rune) matrices.Cell {
	label := map[rune]checker.Label{'X': checker.Corrupted, '?': checker.Unknown, 'S': checker.Stuck,
		'F': checker.FalseReject,
		'r': checker.Rescued, 'o': checker.Overlap, '.': checker.Safe, '-': checker.NotApplicable}[sign]
	c := matrices.Cell{Scenario: scenario, Lock: lock, Mode: mode, Label: label, Match: matrices.AsExpected}
	c.Expected = c.Label
	if c.Label != checker.NotApplicable {
		c.CellRuns = &matrices.CellRuns{SeedsWithLabel: 20, Seeds: 20, Seed: 1,
			Replay: fmt.Sprintf("locksim run %s --lock %s --seed 1 --fencing %s", scenario, lock, mode)}
	}
	return c
}

// SmallMatrix has every label, scenarios that are not about some lock, and modes in
// which a lock cannot run.
func SmallMatrix() *matrices.Matrix {
	m := Matrix([]string{"single", "fenced", "redlock-fenced", "broken/token-read-late"}, map[string][]string{
		"calm":          {".---..", "......", "......"},
		"gc-pause":      {"X---rr", "Xrrrrr", "Xrrrrr"},
		"counter-lost":  {"", "XXXrrr"},
		"split-vote":    {"", "", "o.?..."},
		"key-for-ever":  {"S---SS"},
		"token-trouble": {"", "XFrrro", "", "XXXrrr"},
	})
	m.Cells[0].SeedsWithLabel, m.Cells[0].Seed = 3, 7 // calm, single, none
	last := &m.Cells[slices.IndexFunc(m.Cells, func(c matrices.Cell) bool {
		return c.Scenario == "split-vote" &&
			c.Label == checker.Safe
	})]
	last.NotFelt, m.Totals.NotFelt = "no client read its wall clock", 1
	return m
}

// TroubledMatrix has every kind of problem that a report lists.
func TroubledMatrix() *matrices.Matrix {
	m := SmallMatrix()
	m.Expected = false
	m.Totals.Worse, m.Totals.Milder, m.Totals.Vacuous = 1, 1, 2
	worse, milder := &m.Cells[6], &m.Cells[1+6]
	worse.Expected, worse.Match = checker.Safe, matrices.TooBad
	worse.Label = checker.Corrupted
	worse.SeedsWithLabel, worse.Seed = 2, 9
	worse.Replay = "locksim run calm --lock fenced --seed 9 --fencing none"
	milder.Expected, milder.Match = checker.Rescued, matrices.TooGood
	for i := 4; i <= 5; i++ {
		m.Cells[i].Vacuous, m.Cells[i].SeedsWithLabel = "no acquire was contended", 0
	}
	m.Failures = []matrices.Gap{{Scenario: "gc-pause", Lock: "single", Why: "seeds 1 to 20: the worker process died\nit " +
		"wrote:\npanic: \x1b[2Jowned", Replay: "locksim run gc-pause --lock single --seed 1 --fencing none,claim,cas"}}
	m.NotRun = []matrices.Gap{{Scenario: "key-for-ever", Lock: "mylock", Why: "workload.nested: lock mylock has no " +
		"owners: choose a reentrant kind, or leave this out\n  3 | workload"}}
	m.Cells = slices.DeleteFunc(m.Cells, func(c matrices.Cell) bool {
		return c.Scenario == "gc-pause" &&
			c.Lock == "single"
	})
	return m
}
