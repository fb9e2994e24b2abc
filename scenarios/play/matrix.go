package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"locksim/lock/fence"
)

// MatrixVersion is the version of matrices as JSON.
const MatrixVersion = 1

// Matrix is what was measured of locks, scenarios and fencing modes. As JSON,
// everything but Timing is the same on every machine.
type Matrix struct {
	Version int          `json:"version"`
	Seeds   Seeds        `json:"seeds"`
	Modes   []fence.Mode `json:"modes"`
	// Scenarios are the rows, sorted by name; Locks are the columns: kinds
	// first, then the user's own, then specimens.
	Scenarios []MatrixRow    `json:"scenarios"`
	Locks     []MatrixColumn `json:"locks"`
	// Expected says that no cell differs from what is expected, none is vacuous
	// and nothing failed.
	Expected bool         `json:"as_expected"`
	Totals   MatrixTotals `json:"totals"`
	// Cells are the cells of each pair that was to be run: row by row, in a row
	// column by column, and there mode by mode.
	Cells []MatrixCell `json:"cells"`
	// NotRun are pairs that cannot be run, Failures those that could not be run
	// to their end. They have no cells.
	NotRun   []MatrixGap  `json:"not_run"`
	Failures []MatrixGap  `json:"failures"`
	Timing   MatrixTiming `json:"timing"`
}

// MatrixRow is a scenario of a matrix.
type MatrixRow struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Catalogue []string `json:"catalogue,omitempty"`
	// File is the scenario's file. That of the library begins with library/,
	// and InLibrary is set.
	File      string `json:"file"`
	InLibrary bool   `json:"in_library"`
}

// MatrixColumn is a lock of a matrix.
type MatrixColumn struct {
	Name   string `json:"name"`
	Tokens bool   `json:"tokens"`
}

// MatrixTotals are sums over all cells.
type MatrixTotals struct {
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

// MatrixGap is a pair without cells.
type MatrixGap struct {
	Scenario string `json:"scenario"`
	Lock     string `json:"lock"`
	// Why is an error, in words. Replay is the command that shows it; it is
	// empty where there is nothing to be seen.
	Why    string `json:"why"`
	Replay string `json:"replay,omitempty"`
}

// MatrixTiming is what differs from run to run and from machine to machine.
type MatrixTiming struct {
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

// NewMatrixTiming has the versions of Go and of the modules, and nothing else.
func NewMatrixTiming() MatrixTiming { return MatrixTiming{Go: runtime.Version(), Modules: Modules()} }

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
func (m *Matrix) Problems() []MatrixCell {
	return slices.DeleteFunc(slices.Clone(m.Cells), func(c MatrixCell) bool { return c.Problem() == "" })
}
