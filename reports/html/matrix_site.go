package html

import (
	"html/template"
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
)

// MatrixSite is a matrix as pages that link to each other: one of the whole
// matrix, one for each lock, one for each scenario, and the reports of its runs,
// which others make. [Matrix], [MatrixLock] and [MatrixScenario] write
// them; they belong into the files [MatrixIndexFile], [MatrixLockFile] and
// [MatrixScenarioFile] of one folder.
type MatrixSite struct {
	Matrix *matrix.Matrix
	// Scenarios has those of the matrix, in any order. One that is missing is
	// shown by what the matrix itself knows of it.
	Scenarios []*file.Scenario
	// Locks has those of the matrix, in any order, for what they promise.
	Locks []play.Lock
	// FailureModes are the names of the ids in the catalogue. Default: the ids
	// alone are shown.
	FailureModes []file.FailureMode
	// HasReport says whether there is a report of the run in the file
	// [MatrixRunFile]. Default: there is none, and cells link to the page of their
	// scenario.
	HasReport func(scenario, lock string, seed uint64) bool
	// Replay is the command that makes the matrix again. Default: the pages do not
	// say.
	Replay string
}

// scenario is the scenario of a row, or nil.
func (s *MatrixSite) scenario(name string) *file.Scenario {
	i := slices.IndexFunc(s.Scenarios, func(sc *file.Scenario) bool { return sc.Name == name })
	if i < 0 {
		return nil
	}
	return s.Scenarios[i]
}

// lock is the lock of a column; it promises nothing where it is not known.
func (s *MatrixSite) lock(name string) play.Lock {
	i := slices.IndexFunc(s.Locks, func(l play.Lock) bool { return l.Name == name })
	if i < 0 {
		return play.Lock{Name: name}
	}
	return s.Locks[i]
}

// row is the row of a scenario; ok is false where there is none.
func (s *MatrixSite) row(name string) (row matrix.Row, ok bool) {
	i := slices.IndexFunc(s.Matrix.Scenarios, func(r matrix.Row) bool { return r.Name == name })
	if i < 0 {
		return row, false
	}
	return s.Matrix.Scenarios[i], true
}

// column is the column of a lock; ok is false where there is none.
func (s *MatrixSite) column(name string) (column matrix.Column, ok bool) {
	i := slices.IndexFunc(s.Matrix.Locks, func(c matrix.Column) bool { return c.Name == name })
	if i < 0 {
		return column, false
	}
	return s.Matrix.Locks[i], true
}

// matrixCSS is the style of all pages of a matrix.
func matrixCSS() template.CSS { return template.CSS(asset("base.css") + asset("matrix.css")) }
