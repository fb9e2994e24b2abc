package search

import (
	"slices"
	"testing"

	"locksim/faults"
	"locksim/lock/promise"
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

// A class of which all kinds are drawn by their forms is drawn only where it is named: then they are.
func TestClassesThatAreOnlyNamed(t *testing.T) {
	for _, class := range promise.Faults() {
		byForm := true
		for _, k := range faults.Kinds() {
			byForm = byForm && !(slices.Contains(k.Classes(), class) && byHand(k.Name))
		}
		if spaces.OnlyNamed(class) != byForm {
			t.Errorf("%s: drawn only by forms %v, only named %v", class, byForm, spaces.OnlyNamed(class))
		}
		if !byForm {
			continue
		}
		space := spaces.Space{Servers: []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Leader: "leader"},
			Count: 3}}}
		if slices.Contains(space.Classes(), class) {
			t.Errorf("%s counts where no class is named", class)
		}
		space.Faults = []promise.Fault{class}
		drawn := map[string]bool{}
		for seed := range uint64(100) {
			for _, f := range Draw(spaces.Seeded(seed), space).Faults {
				drawn[f.Action.Kind()] = true
			}
		}
		for _, k := range faults.Kinds() {
			if slices.Contains(k.Classes(), class) != drawn[k.Name] {
				t.Errorf("%s: %s is drawn: %v", class, k.Name, drawn[k.Name])
			}
		}
	}
}
