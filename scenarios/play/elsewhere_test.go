package play_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

// What published set-ups do to locks can be played: each fault strikes and is felt, twice the same way, and no claim of
// these locks is broken by it.
func TestSetUpsFromElsewhere(t *testing.T) {
	paths, err := filepath.Glob("testdata/elsewhere/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sc := testruns.Parse(t, string(source))
			l := etcdlocks.Lock()
			if sc.Lock.Kind != l.Name {
				l = testruns.Kind(t, sc.Lock.Kind)
			}
			o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Repeat: outcome.Twice})
			for _, m := range o.Modes {
				if slices.Contains(m.FaultsFired, false) || slices.Contains(m.FaultsFelt, false) {
					t.Errorf("mode %s: struck %v, felt %v", m.Mode, m.FaultsFired, m.FaultsFelt)
				}
				if f := m.Verdict.Facts; f.ClaimOverlaps > 0 || f.Contended == 0 {
					t.Errorf("mode %s: %s, %d claims overlap, %d grants were contended", m.Mode, m.Verdict.Label, f.ClaimOverlaps,
						f.Contended)
				}
			}
		})
	}
}
