package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/testpages"
)

// The changes of the page give a fault that scenario files have, that strikes, and of which stories tell.
func TestPageOfFaults(t *testing.T) {
	page := testpages.Follow(t, "..", "docs/adding-a-fault.md")
	if len(page.New) != 3 || len(page.Changed) != 2 {
		t.Fatalf("the page adds %q and changes %q: a fault is its file, a line, its effect, its words", page.New, page.Changed)
	}
	page.Go(t, "test", "-vet=off", "./sim/trace", "-run", "Words|Fields|Event")
	scenario := filepath.Join(t.TempDir(), "kick.yaml")
	text := "name: kick\nworld: {redis: 1}\nlock: {kind: single, ttl: 10s}\nfaults: [{at: 1s, kick: {node: r0}}]\n"
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := page.Go(t, "run", "./cmd/locksim", "run", scenario)
	if !strings.Contains(out, "KICKS") {
		t.Errorf("the story does not tell of the fault:\n%s", out)
	}
}
