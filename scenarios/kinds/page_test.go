package kinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/testpages"
)

// The changes of the page give the command a kind of servers and a lock on it, which a scenario file names.
func TestPageOfServers(t *testing.T) {
	page := testpages.Follow(t, "../..", "docs/adding-a-server.md")
	if len(page.New) != 4 || len(page.Changed) != 2 {
		t.Fatalf("the page adds %q and changes %q: a kind has its own folders, and a place in two lists", page.New, page.Changed)
	}
	scenario := filepath.Join(t.TempDir(), "stall.yaml")
	text := "name: stall\nworld: {register: 1}\nlock: {kind: register, ttl: 10s}\nfaults: [{at: 1s, stall: {node: k0, for: 1s}}]\n"
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := page.Go(t, "run", "./cmd/locksim", "run", scenario)
	if !strings.Contains(out, "k0") {
		t.Errorf("the run is not on a register:\n%s", out)
	}
}
