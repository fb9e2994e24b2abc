package matrix_test

import (
	"slices"
	"testing"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// The faults that a lock does not promise to stand are named by their classes, each
// once; two drifts count by how far they are apart.
func TestUnpromised(t *testing.T) {
	fault := func(a faults.Action) faults.Fault { return faults.Fault{Action: a} }
	pause, flush := fault(faults.Pause{Process: "c0", For: time.Second}), fault(faults.Flush{Node: "r0", What: faults.FlushKeys})
	fast, slow := fault(faults.ClockDrift{Clock: "c0", PPM: 5000}), fault(faults.ClockDrift{Clock: "c1", PPM: -6000})
	for _, tt := range []struct {
		lock     string
		schedule []faults.Fault
		want     []string
	}{
		{"single", nil, nil},
		{"single", []faults.Fault{pause}, nil},
		{"single", []faults.Fault{flush, pause, flush}, []string{"flush"}},
		{"single", []faults.Fault{fast, flush}, []string{"clock-drift", "flush"}},
		{"redlock", []faults.Fault{fast}, nil},
		{"redlock", []faults.Fault{fast, slow}, []string{"clock-rate"}},
		{"broken/del-without-owner", []faults.Fault{pause}, []string{"pause"}},
	} {
		l, err := play.Kind(tt.lock)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Unpromised(tt.schedule); !slices.Equal(got, tt.want) {
			t.Errorf("%s under %v: %q, want %q", tt.lock, tt.schedule, got, tt.want)
		}
	}
}

// The rows and columns of a plan are those of its matrix.
func TestMatrixPlanRowsAndColumns(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: all, Specimens: true, Seeds: search.Seeds{First: 1, Last: 1}})
	if err != nil {
		t.Fatal(err)
	}
	m := plan.Assemble(make([]matrix.Answer, len(plan.Jobs())), nil)
	rows, columns := plan.Scenarios(), plan.Locks()
	if len(rows) != len(m.Scenarios) || len(columns) != len(m.Locks) || len(rows) == 0 {
		t.Fatalf("%d rows and %d columns, want %d and %d", len(rows), len(columns), len(m.Scenarios), len(m.Locks))
	}
	for i, sc := range rows {
		if sc.Name != m.Scenarios[i].Name {
			t.Errorf("row %d is %s, want %s", i, sc.Name, m.Scenarios[i].Name)
		}
	}
	for i, l := range columns {
		if l.Name != m.Locks[i].Name {
			t.Errorf("column %d is %s, want %s", i, l.Name, m.Locks[i].Name)
		}
	}
}
