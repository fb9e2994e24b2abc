package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome/matrices"
)

// crowded is a matrix with all locks, and specimens.
func crowded() *matrices.Matrix {
	locks := append(kinds.Names(), "mylock", "broken/del-without-owner", "broken/redlock-keeps-minority")
	rows := map[string][]string{}
	for i, name := range []string{"calm", "a-scenario-with-a-long-name", "gc-pause", "holder-crash", "late-packet",
		"partition-holder"} {
		for j := range locks {
			rows[name] = append(rows[name], []string{"Xrrrrr", ".---..", ""}[(i+j)%3])
		}
	}
	return testreports.Matrix(locks, rows)
}

func TestMatrix(t *testing.T) {
	for name, tt := range map[string]struct {
		shows   string
		matrix  *matrices.Matrix
		options reports.Options
	}{
		"matrix": {"every sign, a group for each lock, pairs that were not run", testreports.SmallMatrix(),
			reports.Options{Width: 100}},
		"matrix-trouble": {"what is not as expected is marked in the table and listed below with its command; a failure is " +
			"not shown as an empty cell", testreports.TroubledMatrix(), reports.Options{Width: 100}},
		"matrix-crowd": {"more locks than fit side by side, names on several lines, specimens apart", crowded(),
			reports.Options{Width: 100}},
		"matrix-narrow": {"60 columns: more tables, and the rest folded", crowded(),
			reports.Options{Width: reports.MinWidth}},
		"matrix-colour": {"colour on the signs only, and the columns as straight as without (ESC stands for the escape " +
			"character)", testreports.SmallMatrix(), reports.Options{Width: 100, Colour: reports.ANSI}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := terminal.Matrix(&b, tt.matrix, tt.options); err != nil {
				t.Fatal(err)
			}
			testreports.Golden(t, name, tt.shows, b.String())
		})
	}
}

// Without colour each label has a different sign.
func TestSignsDiffer(t *testing.T) {
	var b bytes.Buffer
	if err := terminal.Matrix(&b, testreports.SmallMatrix(), reports.Options{}); err != nil {
		t.Fatal(err)
	}
	_, legend, _ := strings.Cut(b.String(), "\nOne sign for each mode")
	signs := map[string]bool{}
	for _, line := range strings.Split(legend, "\n")[1 : len(checker.Labels())+3] {
		signs[line[:1]] = true
	}
	if want := len(checker.Labels()) + 2; len(signs) != want {
		t.Errorf("%d different signs, want %d:\n%s", len(signs), want, legend)
	}
}

// A table that is longer than a screen repeats its head at the end.
func TestLongMatrix(t *testing.T) {
	for _, tt := range []struct{ rows, heads int }{{30, 1}, {31, 2}} {
		rows := map[string][]string{}
		for i := range tt.rows {
			rows[fmt.Sprintf("row-%02d", i)] = []string{"......"}
		}
		var b bytes.Buffer
		if err := terminal.Matrix(&b, testreports.Matrix([]string{"fenced"}, rows), reports.Options{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "  fenced\n"); n != tt.heads {
			t.Errorf("%d rows: %d heads, want %d", tt.rows, n, tt.heads)
		}
	}
}

func TestMatrixErrors(t *testing.T) {
	if err := terminal.Matrix(io.Discard, testreports.SmallMatrix(), reports.Options{Width: 3}); err == nil {
		t.Error("a width of 3 was accepted")
	}
	if err := terminal.Matrix(testreports.FullDisk{}, testreports.SmallMatrix(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("Matrix: %v", err)
	}
}
