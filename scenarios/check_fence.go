package scenarios

import (
	"testing"

	"locksim/scenarios/fences"
)

// A fence under test. Package fences explains each.
type (
	// Fence is a protected store that refuses writes by fencing tokens.
	Fence = fences.Fence
	// Store is such a store, as one client reaches it.
	Store = fences.Store
)

// CheckFence plays a fence of the user's under schedules that are drawn at random, as [Check] does a lock, and
// fails the test with the first schedule under which the store takes a write that it should refuse, refuses one
// that it should take, or loses one. The lock beside it is right, and its holders often write late: after others
// have the lock, or in the same instant. Each finding has a sentence, the minimal schedule, and the command that
// replays it.
//
// A pass means that these runs showed no wrong answer. It does not mean that there is none.
func CheckFence(t testing.TB, f Fence, opts Options) {
	t.Helper()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	Check(t, f.Subject(), opts)
}
