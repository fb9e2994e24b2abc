package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune"
)

// The report of a tuning fits into 80 columns, also with work of milliseconds and of hours, and marks what is
// extrapolated.
func TestTuningFits(t *testing.T) {
	for _, p50 := range []time.Duration{3 * time.Millisecond, 800 * time.Millisecond, 2 * time.Hour} {
		work, err := tune.Lognormal(p50, 4*p50)
		if err != nil {
			t.Fatal(err)
		}
		doc := tune.Compute(tune.Options{Work: work, Pauses: tune.Rare(10*p50, 1000), Reply: tune.None("none"), Backoff: .2,
			Contended: 1, Target: 1e-4})
		var b bytes.Buffer
		if err := terminal.Tuning(&b, doc, reports.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if prose.Columns(line) > 80 {
				t.Errorf("P50 %v: %d columns: %s", p50, prose.Columns(line), line)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), tunings.NotCounted) {
			t.Errorf("P50 %v: it does not say what is not counted:\n%s", p50, b.String())
		}
		if !strings.Contains(b.String(), "  ~  ") || strings.Contains(b.String(), "NaN") {
			t.Errorf("P50 %v:\n%s", p50, b.String())
		}
	}
}
