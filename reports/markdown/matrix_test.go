package markdown_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports/markdown"
	"locksim/scenarios/outcome/matrices"
)

func TestMatrix(t *testing.T) {
	for name, tt := range map[string]struct {
		shows  string
		matrix *matrices.Matrix
	}{
		"matrix": {"an overview in signs, a section for each scenario, locks with equal results in one line",
			testreports.SmallMatrix()},
		"matrix-trouble": {"what is not as expected, listed with its command and set in bold", testreports.TroubledMatrix()},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := markdown.Matrix(&b, tt.matrix); err != nil {
				t.Fatal(err)
			}
			testreports.Golden(t, name, tt.shows, b.String())
		})
	}
}

// The pages of scenarios have what the sections of the one page have, and the index leads to them.
func TestMatrixPages(t *testing.T) {
	m := testreports.SmallMatrix()
	var whole, index bytes.Buffer
	if err := errors.Join(markdown.Matrix(&whole, m), markdown.MatrixIndex(&index, m)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(index.String(), "## Scenarios") || index.Len() >= whole.Len() {
		t.Errorf("the index has the scenarios:\n%s", index.String())
	}
	for _, sc := range m.Scenarios {
		var page bytes.Buffer
		if err := markdown.MatrixScenario(&page, m, sc); err != nil {
			t.Fatal(err)
		}
		_, section, ok := strings.Cut(whole.String(), "\n### "+sc.Name+"\n")
		_, rows, _ := strings.Cut(section, "|---|")
		row, _, _ := strings.Cut(strings.TrimLeft(rows, "-|\n"), "\n")
		if !ok || row == "" || !strings.Contains(page.String(), row) {
			t.Errorf("the page of %s has no row %q:\n%s", sc.Name, row, page.String())
		}
		link := "[" + sc.Name + "](" + markdown.MatrixFolder + "/" + sc.Name + ".md)"
		if !strings.Contains(index.String(), link) {
			t.Errorf("the index has no %s:\n%s", link, index.String())
		}
	}
}

// A title does not become markup, and does not end the cell of a table.
func TestMatrixEscapes(t *testing.T) {
	m := testreports.SmallMatrix()
	m.Scenarios[0].Title = "<b>a|b</b> *x* [y](z)\n# no"
	var b bytes.Buffer
	if err := markdown.Matrix(&b, m); err != nil {
		t.Fatal(err)
	}
	if want := `&lt;b>a\|b&lt;/b> \*x\* \[y](z) # no`; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in:\n%s", want, b.String())
	}
}

func TestMatrixError(t *testing.T) {
	if err := markdown.Matrix(testreports.FullDisk{}, testreports.SmallMatrix()); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}
