package libraries

import (
	"testing"

	"locksim/scenarios"
)

// A lock that the command of locksim has itself is not given to it once more.
func TestLocksOfTheCommand(t *testing.T) {
	single, err := scenarios.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	other := single
	other.Name = "other"
	l := Library{Locks: []Lock{{Lock: single}, {Lock: other}}}
	if locks := l.locks(); len(locks) != 1 || locks[0].Name != "other" {
		t.Errorf("it is given %d locks", len(locks))
	}
}
