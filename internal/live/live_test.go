//go:build linux

package live_test

import (
	"context"
	"os"
	"testing"

	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

func TestMain(m *testing.M) {
	if live.Child() {
		return
	}
	os.Exit(m.Run())
}

// require skips a test whose servers are not installed, or fails it where they have to be.
func require(t *testing.T, kind server.Kind) {
	t.Helper()
	if err := server.Missing(kind); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// session is a session for a test.
func session(t *testing.T) *live.Session {
	t.Helper()
	s, err := live.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// playLive plays a scenario of the library.
func playLive(t *testing.T, s *live.Session, scenario, lock string, o live.Options) *play.Outcome {
	t.Helper()
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	l, err := play.Kind(lock)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background(), sc, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The scenario gc-pause ends on real servers as in the simulated world.
func TestPause(t *testing.T) {
	require(t, server.Redis)
	out := playLive(t, session(t), "gc-pause", "fenced", live.Options{Seed: 1})
	for _, m := range out.Modes {
		t.Logf("%s %s in %v: %v", m.Mode, m.Verdict.Label, m.Wall, m.Verdict.Reasons)
		if want := out.Scenario.Expect["fenced"][m.Mode]; m.Verdict.Label != want || !m.FaultsFired[0] {
			t.Errorf("mode %s: %s, want %s; fault struck: %v", m.Mode, m.Verdict.Label, want, m.FaultsFired)
			for _, l := range m.Story {
				t.Logf("%v %d %s %s", l.At, l.N, l.Actor, l.Text)
			}
		}
	}
}
