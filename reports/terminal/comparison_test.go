package terminal_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/comparisons"
)

func TestComparison(t *testing.T) {
	for name, tt := range map[string]struct {
		shows   string
		value   *comparisons.Comparison
		options reports.Options
	}{
		"compare": {"every word and every sign; a class that was not played has no row", testreports.Comparison(),
			reports.Options{Width: 80}},
		"compare-wide": {"too wide for one table: a block for each lock, and the survivals in several tables",
			testreports.WideComparison(), reports.Options{Width: reports.MinWidth}},
		"compare-colour": {"colour on the words only, and the columns as straight as without (ESC stands for the escape " +
			"character)", testreports.Comparison(), reports.Options{Width: 80, Colour: reports.ANSI}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := terminal.Comparison(&b, tt.value, tt.options); err != nil {
				t.Fatal(err)
			}
			testreports.Golden(t, name, tt.shows, b.String())
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); tt.options.Colour == reports.Plain && n > tt.options.Width {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
		})
	}
}

func TestComparisonErrors(t *testing.T) {
	if err := terminal.Comparison(io.Discard, testreports.Comparison(), reports.Options{Width: 10}); err == nil {
		t.Error("10 columns are enough")
	}
	if err := terminal.Comparison(testreports.FullDisk{}, testreports.Comparison(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("%v", err)
	}
	var b bytes.Buffer
	none := testreports.Comparison()
	none.Locks = slices.Clip(none.Locks[:0])
	if err := terminal.Comparison(&b, none, reports.Options{}); err != nil ||
		!strings.HasPrefix(b.String(), "0 locks side by side\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
