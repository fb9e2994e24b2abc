package play_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
	"locksim/sim/trace"
)

// What an operator does by hand ends a lock, or has no end. A fence keeps the data right, and no lock promises to stand
// it.
func TestOperator(t *testing.T) {
	redis := testruns.Kind(t, "fenced")
	reentrant := testruns.Kind(t, "reentrant-fenced")
	for _, tt := range []struct {
		name, world, fault string
		lock               subject.Lock
		none, seal         checker.Label
		change             trace.Change
		grants             int
	}{
		{"redis deletes", "redis: 1", "edit_key: {node: r0}", redis, checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
		{"redis overwrites", "redis: 1", "edit_key: {node: r0, how: overwrite}", redis, checker.Stuck, checker.Stuck,
			trace.KeyOperated, 1},
		{"redis deletes a hash", "redis: 1", "edit_key: {node: r0}", reentrant, checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
		{"etcd deletes", "etcd: 3", "edit_key: {node: e1}", etcdlocks.Lock(), checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
		{"etcd overwrites", "etcd: 3", "edit_key: {node: e1, how: overwrite}", etcdlocks.Lock(), checker.Safe, checker.Safe,
			trace.KeyProlonged, 2},
		{"etcd ends", "etcd: 3", "end_session: {node: leader}", etcdlocks.Lock(), checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
		{"zookeeper deletes", "zookeeper: 3", "edit_key: {node: z1}", zklocks.Lock(), checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
		{"zookeeper overwrites", "zookeeper: 3", "edit_key: {node: z1, how: overwrite}", zklocks.Lock(), checker.Safe,
			checker.Safe, 0, 2},
		{"zookeeper ends", "zookeeper: 3", "end_session: {node: leader}", zklocks.Lock(), checker.Corrupted, checker.Rescued,
			trace.KeyOperated, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := testruns.Parse(t, `
name: by-hand
world: {`+tt.world+`, clients: 2}
lock: {kind: `+tt.lock.Name+`, ttl: 10s}
workload: {rounds: 1, hold: 8s, stagger: 1s}
faults:
  - {at: 3s, `+tt.fault+`}
`)
			o := testruns.Play(t, sc, tt.lock, play.RunOptions{Seed: 1, Repeat: outcome.Twice})
			for mode, want := range map[string]checker.Label{"none": tt.none, "seal": tt.seal} {
				i := slices.IndexFunc(o.Modes, func(m outcome.ModeRun) bool { return string(m.Mode) == mode })
				m := o.Modes[i]
				if n := len(m.History.Grants); m.Verdict.Label != want || n != tt.grants || !m.FaultsFelt[0] {
					t.Errorf("mode %s: %s with %d grants, want %s with %d; felt %v", mode, m.Verdict.Label, n, want, tt.grants,
						m.FaultsFelt)
				}
				var changes []trace.Change
				for _, c := range m.KeyChanges {
					if c.Asked == "" && c.At >= 3*time.Second && c.At < 4*time.Second {
						changes = append(changes, c.Change)
					}
				}
				if tt.change != 0 && !slices.Contains(changes, tt.change) || tt.change == 0 && len(changes) > 0 {
					t.Errorf("mode %s: the keys changed so: %v, want %v", mode, changes, tt.change)
				}
			}
		})
	}
}

// No other lock is recommended to who lets operators force it open.
func TestRemedyForOperators(t *testing.T) {
	sc, l := testruns.Load(t, "forced-unlock")
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1})
	for _, a := range outcome.Answers(o) {
		want := "Let only those touch the lock's key or session by hand who know that its holder is gone."
		if a.Question == "Remedy" && !strings.HasPrefix(a.Text, want) {
			t.Errorf("the remedy is %q", a.Text)
		}
	}
}
