package file_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
)

// The simulated world can do every action that a file can have, and does the same
// in a second run.
func TestWorldDoesEveryAction(t *testing.T) {
	for _, action := range file.ActionSources() {
		before := ""
		if who, ok := strings.CutPrefix(action, "restart: "); ok {
			before = "  - {at: 2s, crash: " + who + "}\n"
		}
		action = strings.Replace(action, "cluster_failover: {on: rc1", "cluster_failover: {on: rc4", 1) // a primary refuses
		source := file.WorldFor(action) + before + "  - at: 3s\n    " + action + "\nworkload: {rounds: 3}\n"
		sc, err := file.Parse("x.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Kind("fenced")
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(action, "sentinel_") {
			l = sentinellocks.Lock("fenced")
		}
		if sc.World.Count("cluster") > 0 {
			l = clusterlocks.Lock("fenced")
		}
		if strings.HasPrefix(action, "leave") || strings.HasPrefix(action, "end_session") {
			l = etcdlocks.Lock()
		}
		out, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Repeat: outcome.Twice})
		if err != nil {
			t.Errorf("%s: %v", action, err)
			continue
		}
		if slices.Contains(out.Modes[0].FaultsFired, false) {
			t.Errorf("%s did not strike", action)
		}
	}
}
