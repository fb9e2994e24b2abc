package html

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"locksim/reports"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
)

// MatrixSite is a matrix as pages that link to each other: one of the whole matrix, one
// for each lock and one for each scenario, which [Matrix], [MatrixLock] and
// [MatrixScenario] write into the files [MatrixIndexFile], [MatrixLockFile] and
// [MatrixScenarioFile] of one folder. The caller writes the reports of the runs with
// [Run].
type MatrixSite struct {
	Matrix *matrices.Matrix
	// Scenarios are the scenarios of the matrix, in any order. Of a missing one, its
	// page shows only what the matrix has.
	Scenarios []*file.Scenario
	// Locks are the locks of the matrix, in any order, for their promises.
	Locks []matrices.Lock
	// FailureModes are the names of the ids in the catalogue. Default: the ids
	// alone are shown.
	FailureModes []file.FailureMode
	// HasReport reports whether the file [MatrixRunFile] of a run exists. Default:
	// there are none, and cells link to the page of their scenario.
	HasReport func(scenario, lock string, seed uint64) bool
	// Replay is the command that repeats the matrix. Default: the page has none.
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

// lock is the lock of a column; one that is not in Locks promises nothing.
func (s *MatrixSite) lock(name string) matrices.Lock {
	i := slices.IndexFunc(s.Locks, func(l matrices.Lock) bool { return l.Name == name })
	if i < 0 {
		return matrices.Lock{Name: name, Nodes: 1}
	}
	return s.Locks[i]
}

// row is the row of a scenario; ok is false where there is none.
func (s *MatrixSite) row(name string) (row matrices.Row, ok bool) {
	i := slices.IndexFunc(s.Matrix.Scenarios, func(r matrices.Row) bool { return r.Name == name })
	if i < 0 {
		return row, false
	}
	return s.Matrix.Scenarios[i], true
}

// column is the column of a lock; ok is false where there is none.
func (s *MatrixSite) column(name string) (column matrices.Column, ok bool) {
	i := slices.IndexFunc(s.Matrix.Locks, func(c matrices.Column) bool { return c.Name == name })
	if i < 0 {
		return column, false
	}
	return s.Matrix.Locks[i], true
}

// matrixCSS is the style of all pages of a matrix.
func matrixCSS() template.CSS { return template.CSS(asset("base.css") + asset("matrix.css")) }

// MatrixIndexFile is the page of the whole matrix, in the folder of its pages.
const MatrixIndexFile = "index.html"

// MatrixLockFile is the page of a lock, as a path with slashes from the folder of the
// pages. For every name of a lock, the path is inside the folder, differs from that of
// any other lock, and needs no escape in a link.
func MatrixLockFile(lock string) string { return "locks/" + fileName(lock) + ".html" }

// MatrixScenarioFile is the page of a scenario; see [MatrixLockFile].
func MatrixScenarioFile(scenario string) string { return "scenarios/" + fileName(scenario) + ".html" }

// MatrixRunFile is the report of the run of a seed in all modes of the matrix; see
// [MatrixLockFile].
func MatrixRunFile(scenario, lock string, seed uint64) string {
	return fmt.Sprintf("runs/%s/%s/seed-%d.html", fileName(scenario), fileName(lock), seed)
}

// The relative paths to the folder of the pages, from the page of a lock or a
// scenario, and from a report.
const (
	upFromPage = "../"
	upFromRun  = "../../../"
)

// MatrixRunLinks are the links from the report of a run to the pages of the matrix.
func MatrixRunLinks(scenario, lock string) []reports.Link {
	return []reports.Link{
		{Text: "The matrix", Href: upFromRun + MatrixIndexFile},
		{Text: "Lock " + lock, Href: upFromRun + MatrixLockFile(lock)},
		{Text: "Scenario " + scenario, Href: upFromRun + MatrixScenarioFile(scenario)},
	}
}

// maxFileName bounds the bytes of a name, so that every file system accepts it.
const maxFileName = 80

// reserved are the names that Windows reserves for devices, with any text after a dot.
var reserved = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.]|$)`)

// fileName writes a name so that it can be that of a file anywhere. Names that
// differ, if only by their case, are written differently: small letters, digits
// and hyphens stand for themselves, a slash between two of these is a dot, and
// every other byte is written in hexadecimal. A long name ends in its hash.
func fileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case isPlain(c) || c == '-' && i > 0:
			b.WriteByte(c)
		case c == '/' && i > 0 && isPlain(name[i-1]) && i+1 < len(name) && isPlain(name[i+1]):
			b.WriteByte('.')
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return shortened(b.String(), name)
}

func isPlain(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// shortened changes a written name that is empty, too long, or reserved. No other name
// has two underscores in a row.
func shortened(written, name string) string {
	switch {
	case len(written) > maxFileName-2:
		sum := sha256.Sum256([]byte(name))
		return written[:maxFileName/2] + "__" + hex.EncodeToString(sum[:])[:32]
	case written == "" || reserved.MatchString(written):
		return "__" + written
	}
	return written
}

// cellLink is the link from a page, below up, to the report of the run of a cell; or to
// its row on the page of the scenario, where there is no report; or "", where nothing
// was run.
func (s *MatrixSite) cellLink(up string, c matrices.Cell) string {
	switch {
	case c.CellRuns == nil:
		return ""
	case s.HasReport != nil && s.HasReport(c.Scenario, c.Lock, c.Seed):
		return up + MatrixRunFile(c.Scenario, c.Lock, c.Seed) + "#mode-" + string(c.Mode)
	}
	return up + MatrixScenarioFile(c.Scenario) + "#" + rowID(c.Lock)
}

// rowID is the anchor of a lock or scenario in the table of a page.
func rowID(name string) string { return "row-" + fileName(name) }
