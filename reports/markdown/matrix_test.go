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
