package sweep

import (
	"slices"
	"testing"

	"locksim/lock"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/zklocks"
	"locksim/sim/trace"
)

// The servers of every kind are struck by a sweep that names no faults: members of clusters, also those that only apply
// what others are asked, a primary and its replicas, and the Sentinels that watch them. It said "no violation" of etcd
// and ZooKeeper when it had struck none.
func TestServersAreStruck(t *testing.T) {
	extra := slices.Concat(etcdlocks.All(), zklocks.All(), sentinellocks.All(), clusterlocks.All())
	for name, want := range map[string]map[trace.Role][]string{
		"etcd":      {trace.RoleMember: {"e0", "e1", "e2"}},
		"zookeeper": {trace.RoleMember: {"z0", "z1", "z2"}},
		"sentinel-single": {trace.RolePrimary: {"r0"}, trace.RoleReplica: {"r0a", "r0b"},
			trace.RoleWatcher: {"sen0", "sen1", "sen2"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := redislocks.Find(name, extra)
			if err != nil {
				t.Fatal(err)
			}
			sc := file.Defaults()
			sc.Name, sc.Lock.Kind, sc.Workload.Rounds = "small", name, 1
			plan, err := NewPlan(sc, l, Options{Seed: 1, Judge: explorations.JudgeEverything,
				Faults: []lock.Fault{"node-crash", "pause"}})
			if err != nil {
				t.Fatal(err)
			}
			got := map[trace.Role][]string{}
			for _, s := range plan.Servers {
				if s.Placements > 0 {
					got[s.Role] = append(got[s.Role], s.Name)
				}
			}
			for role, names := range want {
				if !slices.Equal(got[role], names) {
					t.Errorf("of role %s are struck %v, want %v", role, got[role], names)
				}
			}
			if i := slices.IndexFunc(plan.Unplaced, func(u sweeps.Unplaced) bool { return u.Fault == "node-crash" }); i >= 0 {
				t.Errorf("not placed: %v", plan.Unplaced[i])
			}
			t.Log(plan.Servers)
		})
	}
}
