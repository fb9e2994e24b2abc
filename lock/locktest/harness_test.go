package locktest

import (
	"strings"
	"testing"
	"time"
)

// TestHealthyLocks: every promise is kept by a lock that makes it, so that a mutant is caught for its mistake.
func TestHealthyLocks(t *testing.T) {
	kept := map[string]bool{}
	for name, h := range map[string]Harness{
		"single":    onStage(Harness{}, single),
		"fenced":    onStage(Harness{Tokens: true}, fenced),
		"reentrant": onStage(Harness{}, reentrant),
		"fair":      onStage(Harness{Fair: true}, inLine),
		"watchdog":  onStage(Harness{Tokens: true, Renews: true}, watched),
	} {
		for _, p := range promises {
			w := &witness{}
			h.keep(w, p)
			kept[p.name] = kept[p.name] || !w.skipped
			if len(w.failures) > 0 {
				t.Errorf("%s, %s:\n%s", name, p.name, strings.Join(w.failures, "\n"))
			}
		}
	}
	for _, p := range promises {
		if !kept[p.name] {
			t.Errorf("%q was skipped for every lock", p.name)
		}
	}
}

func TestHarnessThatMakesNoSense(t *testing.T) {
	world := World{New: func(testing.TB, int) Client { return Client{} }}
	for want, h := range map[string]Harness{
		"neither New nor Fresh": {TTL: time.Second},
		"has no TTL":            {World: world},
		"Slack -1s":             {World: world, TTL: time.Second, Slack: -time.Second},
		"Together -1":           {World: world, TTL: time.Second, Together: -1},
	} {
		if err := h.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := (Harness{World: world, TTL: time.Second}).validate(); err != nil {
		t.Error(err)
	}
}

// TestTooSlow: a test that concludes nothing is tried again, and fails in the end.
func TestTooSlow(t *testing.T) {
	h := Harness{TTL: time.Second, World: World{New: func(testing.TB, int) Client { return Client{} }}}
	for conclusive, failures := range map[int]int{1: 0, tries: 0, tries + 1: 1} {
		runs := 0
		w := &witness{}
		h.keep(w, promise{"it", func(s *scene) {
			if runs++; runs < conclusive {
				s.slow("the sun was in my eyes")
			}
		}})
		if len(w.failures) != failures || runs != min(conclusive, tries) {
			t.Errorf("conclusive at try %d: %d tries, failures %q", conclusive, runs, w.failures)
		}
	}
}
