package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/claims"
)

// What the pages of claims say that a command of this module prints, it prints.
func TestClaims(t *testing.T) {
	program := filepath.Join(t.TempDir(), "leases")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	played := 0
	for _, c := range claims.All() {
		for _, r := range c.Runs {
			args, ours := strings.CutPrefix(r.Command, "go -C examples/leases run ./cmd ")
			if !ours {
				continue
			}
			played++
			cmd := exec.Command(program, strings.Fields(args)...)
			cmd.Dir = ".."
			out, _ := cmd.Output() // its exit code is that of the run
			for _, part := range r.Missing(string(out)) {
				t.Errorf("%s: %s does not print %q any more:\n%s", c.ID, r.Command, part, out)
			}
		}
	}
	if played == 0 {
		t.Error("no row has a run of this module")
	}
}
