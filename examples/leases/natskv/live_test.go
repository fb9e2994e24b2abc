package natskv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/examples/leases/natskv"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios"
)

func TestMain(m *testing.M) {
	if live.Child(natskv.All()...) {
		return
	}
	os.Exit(m.Run())
}

// liveRun is the scenario that is played without LOCKSIM_SOAK, and liveScale the part of its times that a live run has.
const (
	liveRun   = "nats-partition"
	liveScale = 0.4
)

// The scenarios end on a real nats-server, a process of its own, with a label that some seed shows in the simulated
// world: three times each with LOCKSIM_SOAK=1.
func TestLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("live runs need Linux")
	}
	s, err := live.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	files, err := filepath.Glob("scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d scenarios: %v", len(files), err)
	}
	t.Run("all", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			t.Run(name, func(t *testing.T) {
				times := 3
				if os.Getenv("LOCKSIM_SOAK") != "1" { // a part of the soak has one of them too
					times = 1
					if name != liveRun {
						t.Skip("it plays in real time: LOCKSIM_SOAK=1 plays it")
					}
				}
				t.Parallel()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sc, err := scenarios.Parse(file, data, natskv.All()...)
				if err != nil {
					t.Fatal(err)
				}
				all := natskv.All()
				l := all[slices.IndexFunc(all, func(l scenarios.Lock) bool { return l.Name == sc.Lock.Kind })]
				for range times {
					liveAsSimulated(t, s, sc, l)
				}
			})
		}
	})
}

// liveAsSimulated plays a scenario on a real server, and again, at last more slowly, where the machine was too late for
// its times or the label is none of the simulated world.
func liveAsSimulated(t *testing.T, s *live.Session, sc *scenarios.Scenario, l scenarios.Lock) {
	t.Helper()
	wrong := ""
	for _, slower := range []float64{1, 1, 2} {
		scale := live.ScaleFor(sc, l, slower*liveScale)
		out, err := s.Run(t.Context(), sc, l, live.Options{Seed: 1, Modes: []fence.Mode{fence.None}, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		m := out.Modes[0]
		if m.Late > out.Scenario.LateLimit() {
			continue
		}
		var seen []checker.Label
		for seed := uint64(1); seed <= 20; seed++ {
			o, err := scenarios.Run(live.Scaled(sc, scale), l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}})
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, o.Modes[0].Verdict.Label)
		}
		never := out.NeverFired()
		if slices.Contains(seen, m.Verdict.Label) && len(never) == 0 {
			return
		}
		wrong = fmt.Sprint(m.Verdict.Reasons)
		t.Logf("at scale %v it is %s, faults %v did not strike, and in the simulated world it is %v: %s", scale,
			m.Verdict.Label, never, seen, wrong)
	}
	if wrong == "" {
		t.Skip("the machine has too much other work to do: in three runs it was late by a tenth of a lease or of a timeout")
	}
	t.Error("no live run ended as the simulated world does")
}
