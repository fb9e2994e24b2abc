package server

import (
	"errors"
	"strings"
	"testing"

	"locksim/faults"
)

// A power failure is not played on a process that leaves writes to the operating system: killing it loses none of them.
func TestPowerOfOther(t *testing.T) {
	s := &Server{name: "n0",
		group: &Group{options: Options{Other: &Other{Unsynced: "it leaves its writes to the system"}}}, up: down}
	if err := s.Crash(faults.CrashPower); !errors.Is(err, faults.ErrUnable) ||
		!strings.Contains(err.Error(), "leaves its writes") {
		t.Errorf("the power: %v", err)
	}
	if err := s.Crash(faults.CrashProcess); err != nil {
		t.Errorf("the process: %v", err)
	}
}
