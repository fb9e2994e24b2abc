package testpages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/soak"
	"locksim/internal/testpages"
)

// Three pages are followed together: the changes of one give a fault that scenario files have, that strikes, and of
// which stories tell; those of another a kind of servers and a lock on it, which a scenario file names; those of the
// third a key that is read, written, checked, and played. Each changes few files. Without LOCKSIM_SOAK the changes fit,
// and are Go.
func TestPages(t *testing.T) {
	module, pages := testpages.Follow(t, "../..", "docs/contributing/adding-a-fault.md",
		"docs/contributing/adding-a-server.md", "docs/contributing/adding-a-scenario-key.md")
	for i, most := range []struct{ added, changed int }{{3, 2}, {4, 2}, {0, 3}} {
		if p := pages[i]; len(p.New) != most.added || len(p.Changed) != most.changed {
			t.Errorf("page %d adds %q and changes %q, want %d and %d files", i, p.New, p.Changed, most.added, most.changed)
		}
	}
	soak.Only(t, "it compiles most of the module")
	module.Go(t, "test", "-vet=off", "./sim/trace", "-run", "Words|Fields|Event")
	if out := module.Go(t, "test", "-vet=off", "./scenarios/file", "-run", "^TestKeys$/^warmup$",
		"-v"); !strings.Contains(out, "--- PASS: TestKeys/warmup") {
		t.Errorf("the key is not tested:\n%s", out)
	}
	command := filepath.Join(t.TempDir(), "locksim")
	module.Go(t, "build", "-o", command, "./cmd/locksim")
	for _, page := range []struct{ name, scenario, shows string }{
		{"fault", "name: kick\nworld: {redis: 1}\nlock: {kind: single, ttl: 10s}\nfaults: [{at: 1s, kick: {node: r0}}]\n",
			"KICKS"},
		{"server", "name: stall\nworld: {register: 1}\nlock: {kind: register, ttl: 10s}\nfaults: [{at: 1s, stall: {node: " +
			"k0, for: 1s}}]\n", "k0"},
	} {
		scenario := filepath.Join(t.TempDir(), page.name+".yaml")
		if err := os.WriteFile(scenario, []byte(page.scenario), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), command, "run", scenario).CombinedOutput()
		if err != nil || !strings.Contains(string(out), page.shows) {
			t.Errorf("the %s of the page: %v\n%s", page.name, err, out)
		}
	}
}
