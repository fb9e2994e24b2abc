package search

import (
	"testing"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/spaces"
)

// A form alone is enough to draw a fault of any kind that fits its world, also of
// the few kinds that have troubles of their own.
func TestFormsCanBeDrawn(t *testing.T) {
	for _, k := range faults.Kinds() {
		seen := map[string]bool{}
		for seed := range uint64(200) {
			d := &drawer{from: spaces.Seeded(seed), space: spaces.Space{Redis: 3, Replicas: 2}.WithDefaults(),
				sc: file.Defaults(), manner: broad}
			d.sc.Name = "drawn"
			switch k.Needs() {
			case faults.Watchers:
				d.space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "sentinel", Prefix: "sen", Watches: true},
					Count: 3}}
			case faults.ClusterNodes:
				d.space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "cluster", Prefix: "rc", Cluster: true},
					Count: 9}}
			case faults.Members:
				d.space.Servers = []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Leader: "leader"}, Count: 3}}
			}
			d.lock()
			d.world()
			d.workload()
			d.sc.World.Replicas = 2
			for _, s := range d.fillIn(k.Name) {
				d.sc.Faults = append(d.sc.Faults, faults.Fault{At: s.later, Action: s.action})
			}
			if err := d.sc.Validate(); err != nil || len(d.sc.Faults) != 1 || d.sc.Faults[0].Action.Kind() != k.Name {
				t.Fatalf("%s, seed %d: %v: %v", k.Name, seed, d.sc.Faults, err)
			}
			text, err := file.Format(d.sc)
			if err != nil {
				t.Fatal(err)
			}
			seen[string(text)] = true
		}
		if len(seen) < 50 {
			t.Errorf("%s: 200 seeds drew %d scenarios", k.Name, len(seen))
		}
	}
}
