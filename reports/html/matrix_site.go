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

// MatrixIndexFile is the page of the whole matrix, in the folder of its pages.
const MatrixIndexFile = "index.html"

// MatrixLockFile is the page of a lock, as a path with slashes from the folder of
// the pages. Whatever a lock is called, the path stays in the folder, is that of
// no other lock, and needs no escape in a link.
func MatrixLockFile(lock string) string { return "locks/" + fileName(lock) + ".html" }

// MatrixScenarioFile is the page of a scenario; see [MatrixLockFile].
func MatrixScenarioFile(scenario string) string { return "scenarios/" + fileName(scenario) + ".html" }

// MatrixRunFile is the report of the run of a seed in all modes of the matrix; see
// [MatrixLockFile].
func MatrixRunFile(scenario, lock string, seed uint64) string {
	return fmt.Sprintf("runs/%s/%s/seed-%d.html", fileName(scenario), fileName(lock), seed)
}

// The steps up from a page of a lock or a scenario, and from a report.
const (
	upFromPage = "../"
	upFromRun  = "../../../"
)

// MatrixRunLinks lead from the report of a run to the pages around it.
func MatrixRunLinks(scenario, lock string) []reports.Link {
	return []reports.Link{
		{Text: "The matrix", Href: upFromRun + MatrixIndexFile},
		{Text: "Lock " + lock, Href: upFromRun + MatrixLockFile(lock)},
		{Text: "Scenario " + scenario, Href: upFromRun + MatrixScenarioFile(scenario)},
	}
}

// maxFileName bounds the bytes of a name, so that any file system takes it.
const maxFileName = 80

// reserved are the names that Windows keeps for devices, whatever comes after a
// dot.
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

// shortened keeps a written name from being empty, too long, or reserved. Nothing
// else has two underscores in a row.
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

// cellLink leads from a page, so many steps up, to the report of a cell's run; or
// to its place on the page of the scenario, where there is no report; or nowhere,
// if nothing was run.
func (s *MatrixSite) cellLink(up string, c matrix.Cell) string {
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
