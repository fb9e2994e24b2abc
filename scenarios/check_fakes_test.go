package scenarios_test

import (
	"testing"

	"locksim/internal/testlocks"
)

// A lock that excludes nobody fails, also if its claims are empty and never overlap,
// and so does a lock that one client alone can have. The message names the mistake.
func TestCheckFindsFakes(t *testing.T) {
	for _, fake := range testlocks.Fakes() {
		t.Run(fake.Lock.Name, func(t *testing.T) {
			j := checked(t, "TestTheirs", fake.Lock, quick(t))
			if !j.failed {
				t.Fatalf("it passes:\n%s", j.said())
			}
			wants(t, j.said(), fake.Says)
		})
	}
}
