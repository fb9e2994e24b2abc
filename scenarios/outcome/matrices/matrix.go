package matrices

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome"
)

// Version is the version of matrices as JSON.
const Version = 1

// Matrix is the result of locks in scenarios under fencing modes. As JSON,
// everything except the timing is the same on every machine.
type Matrix struct {
	// Version is the version of this format.
	Version int           `json:"version"`
	Seeds   outcome.Seeds `json:"seeds"`
	// Modes are the fencing modes that were asked for.
	Modes []fence.Mode `json:"modes" jsonschema:"minItems=1,uniqueItems=true"`
	// Scenarios are the rows, sorted by name.
	Scenarios []Row `json:"scenarios"`
	// Locks are the columns: kinds first, then the user's own, then specimens.
	Locks []Column `json:"locks"`
	// Expected says whether no cell differs from what is expected, none is vacuous
	// and nothing failed.
	Expected bool   `json:"as_expected"`
	Totals   Totals `json:"totals"`
	// Cells are the cells of each pair that was to be run: row by row, in a row
	// column by column, and there mode by mode.
	Cells []Cell `json:"cells"`
	// NotRun are pairs that cannot be run, and those of which a fault strikes at a
	// named point that the lock does not pass. They have no cells.
	NotRun []Gap `json:"not_run"`
	// Failures are pairs that could not be run to their end. They have no cells.
	Failures []Gap  `json:"failures"`
	Timing   Timing `json:"timing"`
}

// Row is a scenario of a matrix.
type Row struct {
	// Name is the name of the scenario.
	Name string `json:"name"`
	// Title is what the scenario is about.
	Title string `json:"title" jsonschema:"minLength=0"`
	// Catalogue are the failure modes that it shows, by their ids.
	Catalogue []string `json:"catalogue,omitempty" jsonschema:"pattern=^F[0-9][0-9]+$"`
	// File is the scenario's file. For a scenario of the library it begins with library/.
	File string `json:"file" jsonschema:"minLength=0"`
	// InLibrary says whether the scenario comes with locksim.
	InLibrary bool `json:"in_library"`
}

// Column is a lock of a matrix.
type Column struct {
	// Name is the name of the lock.
	Name string `json:"name"`
	// Tokens says whether it mints fencing tokens.
	Tokens bool `json:"tokens"`
}

// Lock is what the page of a lock says of it and no matrix has.
type Lock struct {
	// Name is the name of the lock.
	Name string
	// Nodes is how many servers the lock needs.
	Nodes int
	// Tokens says whether it mints fencing tokens.
	Tokens bool
	// Promise is what the lock promises.
	Promise promise.Promise
}

// Totals are sums over all cells.
type Totals struct {
	// Cells counts the cells that were run.
	Cells int `json:"cells"`
	// NotApplicable counts the cells that were not run, since the lock mints no
	// tokens.
	NotApplicable int `json:"not_applicable"`
	// Runs counts the runs of all cells.
	Runs int `json:"runs"`
	// NonVacuous counts the runs that are evidence and in which every fault fired.
	NonVacuous int `json:"non_vacuous"`
	// Events counts the events of all runs.
	Events int `json:"events"`
	// VirtualSeconds is the virtual time of all runs.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Worse counts the cells that are worse than expected.
	Worse int `json:"worse"`
	// Milder counts the cells that are milder than expected.
	Milder int `json:"milder"`
	// Vacuous counts the cells that prove nothing.
	Vacuous int `json:"vacuous"`
	// NotFelt counts the cells whose lock did not feel the faults.
	NotFelt int `json:"not_felt"`
}

// Gap is a pair of scenario and lock without cells.
type Gap struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Why is an error, or why the pair is left out, in words.
	Why string `json:"why"`
	// Replay is the command that shows it. It is absent if there is none.
	Replay string `json:"replay,omitempty"`
}

// Timing has the values that differ from run to run and from machine to machine.
type Timing struct {
	// WallSeconds is the time on the wall clock.
	WallSeconds float64 `json:"wall_seconds"`
	// Workers counts the child processes. It is 0 in the matrix of a review, which
	// leaves out what differs from run to run.
	Workers int `json:"workers"`
	// Slowest are the jobs that took longest, the slowest first.
	Slowest []JobTiming `json:"slowest,omitempty"`
	// Go is the version of Go for which the hashes are valid.
	Go string `json:"go"`
	// Modules are the versions of the modules that a trace depends on, by module
	// path. They are absent if the program has no build information.
	Modules map[string]string `json:"modules,omitempty"`
}

// JobTiming is the time of the runs of a scenario with a lock.
type JobTiming struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Runs is the number of runs.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// WallSeconds is the time of the runs on the wall clock.
	WallSeconds float64 `json:"wall_seconds"`
}

// NewTiming has the versions of Go and of the modules, and nothing else.
func NewTiming() Timing { return Timing{Go: runtime.Version(), Modules: outcome.Modules()} }

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

// Problems are the cells that differ from the expectation or are vacuous, in order.
func (m *Matrix) Problems() []Cell {
	return slices.DeleteFunc(slices.Clone(m.Cells), func(c Cell) bool { return c.Problem() == "" })
}

// Add adds a cell to the sums.
func (t *Totals) Add(c Cell) {
	t.Worse += oneIf(c.Match == TooBad)
	t.Milder += oneIf(c.Match == TooGood)
	t.Vacuous += oneIf(c.Vacuous != "")
	t.NotFelt += oneIf(c.NotFelt != "")
	t.NotApplicable += oneIf(c.Label == checker.NotApplicable)
	if c.CellRuns == nil {
		return
	}
	t.Cells++
	t.Runs += c.Seeds
	t.NonVacuous += c.NonVacuous
	t.Events += c.Events
	t.VirtualSeconds += c.VirtualSeconds
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
