package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Version is the version of matrices as JSON.
const Version = 1

// Matrix is what was measured of locks, scenarios and fencing modes. As JSON,
// everything but Timing is the same on every machine.
type Matrix struct {
	Version int          `json:"version"`
	Seeds   search.Seeds `json:"seeds"`
	Modes   []fence.Mode `json:"modes"`
	// Scenarios are the rows, sorted by name; Locks are the columns: kinds
	// first, then the user's own, then specimens.
	Scenarios []Row    `json:"scenarios"`
	Locks     []Column `json:"locks"`
	// Expected says that no cell differs from what is expected, none is vacuous
	// and nothing failed.
	Expected bool   `json:"as_expected"`
	Totals   Totals `json:"totals"`
	// Cells are the cells of each pair that was to be run: row by row, in a row
	// column by column, and there mode by mode.
	Cells []Cell `json:"cells"`
	// NotRun are pairs that cannot be run, Failures those that could not be run
	// to their end. They have no cells.
	NotRun   []Gap  `json:"not_run"`
	Failures []Gap  `json:"failures"`
	Timing   Timing `json:"timing"`
}

// Row is a scenario of a matrix.
type Row struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Catalogue []string `json:"catalogue,omitempty"`
	// File is the scenario's file. That of the library begins with library/,
	// and InLibrary is set.
	File      string `json:"file"`
	InLibrary bool   `json:"in_library"`
}

// Column is a lock of a matrix.
type Column struct {
	Name   string `json:"name"`
	Tokens bool   `json:"tokens"`
}

// Totals are sums over all cells.
type Totals struct {
	// Cells counts the cells that were run, NotApplicable those that were not,
	// since the lock mints no tokens.
	Cells         int `json:"cells"`
	NotApplicable int `json:"not_applicable"`
	// Runs counts the runs, NonVacuous those in which clients contended, every
	// fault fired, and no pause was partial.
	Runs           int     `json:"runs"`
	NonVacuous     int     `json:"non_vacuous"`
	Events         int     `json:"events"`
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Worse, Milder and Vacuous count the cells that are.
	Worse   int `json:"worse"`
	Milder  int `json:"milder"`
	Vacuous int `json:"vacuous"`
}

// Gap is a pair without cells.
type Gap struct {
	Scenario string `json:"scenario"`
	Lock     string `json:"lock"`
	// Why is an error, in words. Replay is the command that shows it; it is
	// empty where there is nothing to be seen.
	Why    string `json:"why"`
	Replay string `json:"replay,omitempty"`
}

// Timing is what differs from run to run and from machine to machine.
type Timing struct {
	WallSeconds float64 `json:"wall_seconds"`
	Workers     int     `json:"workers"`
	// Slowest are the jobs that took longest, the slowest first.
	Slowest []JobTiming `json:"slowest,omitempty"`
	// Go and Modules are the versions that the hashes hold for.
	Go      string            `json:"go"`
	Modules map[string]string `json:"modules,omitempty"`
}

// JobTiming is how long the runs of a scenario with a lock took.
type JobTiming struct {
	Scenario    string  `json:"scenario"`
	Lock        string  `json:"lock"`
	Runs        int     `json:"runs"`
	WallSeconds float64 `json:"wall_seconds"`
}

// NewTiming has the versions of Go and of the modules, and nothing else.
func NewTiming() Timing { return Timing{Go: runtime.Version(), Modules: play.Modules()} }

// JSON is the matrix as one indented document.
func (m *Matrix) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("write the matrix as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Problems are the cells that differ from what is expected or are vacuous, in
// order.
func (m *Matrix) Problems() []Cell {
	return slices.DeleteFunc(slices.Clone(m.Cells), func(c Cell) bool { return c.Problem() == "" })
}
