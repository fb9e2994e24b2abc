//go:build linux

package live_test

import (
	"slices"
	"testing"

	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// How long a lock is not to be had after a trouble, on real servers, is what the simulated world says of it. The table
// of docs/how-to/live.md has what it logs.
func TestNotToBeHad(t *testing.T) {
	soak.RealTime(t)
	const runs = 3
	for _, tt := range []struct {
		lock    string
		trouble comparisons.Trouble
		kinds   []server.Kind
		within  float64 // by how many seconds the run in the middle may differ from the simulated one
	}{
		{"single", comparisons.ServerCrashes, []server.Kind{server.Redis}, 1},
		{"sentinel-single", comparisons.PrimaryLost, []server.Kind{server.Redis}, 2},
		{"etcd", comparisons.ServerCrashes, []server.Kind{server.Etcd}, 2},
	} {
		t.Run(tt.lock+" "+string(tt.trouble), func(t *testing.T) {
			for _, kind := range tt.kinds {
				require(t, kind)
			}
			l, err := redislocks.Find(tt.lock, locks())
			if err != nil {
				t.Fatal(err)
			}
			s := session(t)
			t.Parallel()
			var real, simulated []compare.Seen
			for seed := uint64(1); seed <= 50; seed++ {
				sc, err := compare.Troubled(l, tt.trouble, seed, "")
				if err != nil || sc == nil {
					t.Fatalf("no scenario: %v", err)
				}
				o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true, Bare: true})
				if err != nil {
					t.Fatal(err)
				}
				simulated = append(simulated, compare.NotToBeHad(&o.Modes[0]))
				if seed > runs {
					continue
				}
				if o, err = s.Run(t.Context(), sc, l, live.Options{Seed: seed, Modes: []fence.Mode{fence.None}, Scale: 1,
					Alone: true}); err != nil {
					t.Fatal(err)
				}
				m := &o.Modes[0]
				real = append(real, compare.NotToBeHad(m))
				t.Logf("live run %d: %+v, %s, late %v", seed, real[len(real)-1], m.Verdict.Label, m.Late)
			}
			if slices.ContainsFunc(real, func(s compare.Seen) bool { return s.Whom == "" }) {
				t.Fatalf("the trouble did not strike: %+v", real)
			}
			got, want := compare.Summary(tt.trouble, real), compare.Summary(tt.trouble, simulated)
			t.Logf("live %+v, simulated %+v", got, want)
			if d := got.MedianSeconds - want.MedianSeconds; got.Never > 0 || d < -tt.within || d > tt.within {
				t.Errorf("live %+v, simulated %+v", got, want)
			}
		})
	}
}
