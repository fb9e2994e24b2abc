package grid_test

import (
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports/grid"
)

// The map has one sign for each standing, and names the fence; what the lock does not promise
// is never shown as right or wrong.
func TestMapCell(t *testing.T) {
	var got []string
	for _, l := range testreports.WideComparison().Locks[:4] {
		var row []string
		for _, s := range l.Survives {
			c := grid.NewMapCell(s)
			text := c.Text()
			if c.Seen != "" {
				text += " (" + c.Seen + ")"
			}
			row = append(row, text)
			if !strings.Contains(grid.MapLegend, c.Sign+" ") {
				t.Errorf("the legend does not explain %q", c.Sign)
			}
		}
		got = append(got, strings.Join(row, ", "))
	}
	want := "✓, ◐ claim, ?, – (wrong); ✓, ◐ seal, ?, – (claim); ?, ✗, ?, – (right); ◐ claim, ◐ check!, ?, – (strict)"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
