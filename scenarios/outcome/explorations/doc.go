// Package explorations has the document of an exploration: its plan, what was found in random schedules, and how much
// that says. Package [locksim/scenarios/explore] makes it, reports show it.
package explorations
