package play_test

import (
	"strings"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

// A cluster that three of its five members have left, one after another, is one of two: it serves, as it could not
// with three members down. Those that left come back, and catch up.
func TestMembersLeave(t *testing.T) {
	for _, l := range []subject.Lock{etcdlocks.Lock(), zklocks.Lock()} {
		t.Run(l.Name, func(t *testing.T) {
			sc := testruns.Parse(t, strings.ReplaceAll(`
name: members-leave
world: {LOCK: 5, clients: 3}
lock: {kind: LOCK, ttl: 5s}
workload: {rounds: 6, hold: 3s}
faults:
  - {every: 5s, times: 3, leave: {node: leader, for: 40s}}
`, "LOCK", l.Name))
			m := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
			var left, ended, back, granted []time.Duration
			for _, e := range m.Trace.Events {
				switch e.Kind() {
				case "depart":
					left = append(left, e.At)
				case "crash":
					ended = append(ended, e.At)
				case "restart":
					back = append(back, e.At)
				case "granted":
					if len(ended) == 3 && len(back) == 0 {
						granted = append(granted, e.At)
					}
				}
			}
			if len(left) != 3 || len(ended) != 3 || len(back) != 3 || len(granted) < 3 {
				t.Fatalf("left at %v, ended at %v, came back at %v; granted while only two were left: %v", left, ended, back,
					granted)
			}
			for i := range left {
				if ended[i] < left[i] || ended[i] > left[i]+time.Second || back[i] != left[i]+40*time.Second {
					t.Errorf("a member was to leave at %v, ended at %v and came back at %v", left[i], ended[i], back[i])
				}
			}
		})
	}
}
