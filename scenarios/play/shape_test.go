package play_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

func TestShape(t *testing.T) {
	pause := faults.Pause{Process: "c0", For: time.Second}
	read := &faults.Event{Client: "c0", Name: faults.EventRead, Nth: 1}
	write := &faults.Event{Client: "c1", Name: faults.EventWrite, Nth: 2}
	corrupted := []play.Violation{{fence.None, checker.Corrupted}, {fence.None, checker.Overlap}}
	for _, c := range []struct {
		want   string
		broken []play.Violation
		work   file.Workload
		faults []faults.Fault
	}{
		{"corrupted in mode none: pause", corrupted, file.Workload{}, []faults.Fault{{When: read, Action: pause}}},
		{"corrupted in mode none: pause", corrupted, file.Workload{Kind: file.WorkloadRegister}, []faults.Fault{{When: write, After: time.Second, Action: pause}}},
		{"overlap in mode none: pause", corrupted[1:], file.Workload{}, []faults.Fault{{When: read, Action: pause}}},
		{"stuck in mode seal: no faults", []play.Violation{{fence.Seal, checker.Stuck}}, file.Workload{}, nil},
		{"corrupted in mode none: crash, pause, restart", corrupted, file.Workload{},
			[]faults.Fault{{Action: faults.Restart{Process: "r0"}}, {Action: pause}, {Action: faults.Crash{Process: "r0"}}}},
		{"corrupted in mode none: pause, pause", corrupted, file.Workload{}, []faults.Fault{{Action: pause}, {At: time.Minute, Action: pause}}},
		{"corrupted in mode none: no faults (transfer)", corrupted, file.Workload{Kind: file.WorkloadTransfer}, nil},
		{"corrupted in mode none: no faults (nested)", corrupted, file.Workload{Nested: 2}, nil},
		{"no violation: no faults", nil, file.Workload{}, nil},
	} {
		if got := play.Shape(&file.Scenario{Workload: c.work, Faults: c.faults}, c.broken); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
