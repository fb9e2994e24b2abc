package play

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock/fence"
)

// The simulated world is able to do whatever a file can say, and does the same
// in a second run.
func TestTheWorldCanDoEveryAction(t *testing.T) {
	for _, tt := range everyAction {
		before := ""
		if who, ok := strings.CutPrefix(tt.source, "restart: "); ok {
			before = "  - {at: 2s, crash: " + who + "}\n"
		}
		source := bigWorld + before + "  - at: 3s\n    " + tt.source + "\nworkload: {rounds: 3}\n"
		sc, err := Parse("x.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		l, err := Kind("fenced")
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run(sc, l, RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Repeat: Twice})
		if err != nil {
			t.Errorf("%s: %v", tt.source, err)
			continue
		}
		if slices.Contains(out.Modes[0].FaultsFired, false) {
			t.Errorf("%s did not strike", tt.source)
		}
	}
}
