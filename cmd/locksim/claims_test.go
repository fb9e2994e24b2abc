package main

import (
	"strings"
	"testing"

	"locksim/internal/claims"
	"locksim/internal/testruns"
)

// What the pages of claims say that a command prints, it prints. Those of the other modules have a test there.
func TestClaims(t *testing.T) {
	for _, c := range claims.All() {
		for _, r := range c.Runs {
			if !strings.HasPrefix(r.Command, "locksim ") {
				continue
			}
			t.Run(c.ID+"/"+r.Command, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(r.Command, "locksim run sql-") {
					testruns.NeedsPostgres(t)
				}
				out, _ := shell(t, root, r.Command)
				for _, part := range r.Missing(out) {
					t.Errorf("it does not print %q any more: change internal/claims/claims.yaml, and what its row says.\n%s",
						part, out)
				}
			})
		}
	}
}
