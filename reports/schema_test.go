package reports_test

import (
	"strings"
	"testing"

	"locksim/reports"
)

func TestNoSuchSchema(t *testing.T) {
	for _, name := range []string{"", "runs", "../schema/run", "run.schema.json"} {
		if b, err := reports.Schema(name); err == nil || len(b) > 0 ||
			!strings.Contains(err.Error(), "choose one of compare, explore, init, judge, leaders, list, matrix, overlay, "+
				"review, run, scenario, serve, show, state, sweep, triage, tune, version, worlds") {
			t.Errorf("%q: got %d bytes and the error %v", name, len(b), err)
		}
	}
}
