//go:build linux

package live_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// How long a lock is not to be had after a trouble, on real servers, is among what simulated runs have, a second more
// or less. The table of docs/how-to/live.md has what it logs.
func TestNotToBeHad(t *testing.T) {
	soak.RealTime(t)
	const (
		runs  = 3
		slack = time.Second
	)
	for _, tt := range []struct {
		lock    string
		trouble comparisons.Trouble
		kinds   []server.Kind
	}{
		{"single", comparisons.ServerCrashes, []server.Kind{server.Redis}},
		{"sentinel-single", comparisons.PrimaryLost, []server.Kind{server.Redis}},
		{"etcd", comparisons.ServerCrashes, []server.Kind{server.Etcd}},
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
				one := compare.NotToBeHad(m)
				t.Logf("live run %d: %+v, %s, late %v", seed, one, m.Verdict.Label, m.Late)
				if m.Late < slack/2 && one.Usual > 0 { // not of a machine with too much else to do
					real = append(real, one)
				}
			}
			if len(real) == 0 {
				t.Skip("the machine was late in each run")
			}
			t.Logf("live %+v, simulated %+v", compare.Summary(tt.trouble, real), compare.Summary(tt.trouble, simulated))
			byTime := func(a, b compare.Seen) int { return cmp.Compare(a.Longest, b.Longest) }
			least, longest := slices.MinFunc(simulated, byTime).Longest, slices.MaxFunc(simulated, byTime).Longest
			for _, one := range real {
				if one.Whom == "" || one.Never || one.Longest < least-slack || one.Longest > longest+slack {
					t.Errorf("live %+v, simulated %v to %v", one, least, longest)
				}
			}
		})
	}
}
