package runfolder_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/reports/index"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// The entry of a matrix has its labels, and the folders of its pages have no entries.
func TestIndexOfAMatrix(t *testing.T) {
	cell := func(l checker.Label) matrices.Cell { return matrices.Cell{Label: l} }
	m := &matrices.Matrix{Version: matrices.Version, Seeds: outcome.Seeds{First: 1, Last: 20}, Expected: true,
		Scenarios: make([]matrices.Row, 2), Locks: make([]matrices.Column, 1), Totals: matrices.Totals{Cells: 3, Runs: 60},
		Cells: []matrices.Cell{cell(checker.Safe), cell(checker.Corrupted), cell(checker.Safe), cell(checker.NotApplicable)}}
	fsys := fstest.MapFS{"matrix/matrix.json": file(text(t, m), 0), "matrix/index.html": file("", 0),
		"matrix/runs/x/run.json": file("", 0)}
	want := []index.Entry{{Folder: "matrix", Kind: index.Matrix, What: "Matrix of 2 scenarios and 1 lock",
		Seed: "seeds 1 to 20", Result: "60 runs in 3 cells.",
		Labels: []index.Label{{Label: checker.Corrupted, Count: 1}, {Label: checker.Safe, Count: 2}},
		Pages:  []index.Page{{Name: "Pages", File: "index.html"}, {Name: "JSON", File: "matrix.json"}}}}
	if d := cmp.Diff(want, indexOf(t, fsys, nil).Entries); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The scanned folder may itself be the folder of a run or a matrix. Its index.html is
// then the index, and no page of the entry.
func TestIndexOfTheFolderItself(t *testing.T) {
	fsys := fstest.MapFS{"run.json": file(storedRun(t), 0), "index.html": file("", 0), "report.html": file("", 0),
		"other/run.json": file("{", 0)}
	got := indexOf(t, fsys, nil).Entries
	if len(got) != 2 || got[0].Folder != "." || got[0].Pages[0].File != "report.html" || got[1].Folder != "other" {
		t.Errorf("the index has %+v", got)
	}
	m := fstest.MapFS{"review.html": file("<title>x</title>", 0), "matrix.json": file("{", 0), "index.html": file("", 0)}
	for _, e := range indexOf(t, m, nil).Entries {
		for _, p := range e.Pages {
			if p.File == "index.html" {
				t.Errorf("%+v links to the index", e)
			}
		}
	}
}

// The entry of a review has the title of its page.
func TestIndexOfAReview(t *testing.T) {
	fsys := fstest.MapFS{"review-x/review.html": file("<head><title>Review of a&amp;b · locksim</title>", 0)}
	if got := indexOf(t, fsys, nil).Entries; len(got) != 1 || got[0].What != "Review of a&b" ||
		got[0].Kind != index.Review {
		t.Errorf("the index has %+v", got)
	}
}
