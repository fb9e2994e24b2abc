package zklocks_test

import (
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/zklocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The scenarios of the library have the labels that they expect. With LOCKSIM_SOAK=1 at seeds 1 to 20.
func TestExpectations(t *testing.T) {
	every := func(testruns.Pair) bool { return true }
	testruns.MeetExpectations(t, zklocks.All(), 1, every, func(all []fence.Mode) []fence.Mode { return all[:1] })
}
