package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
)

func TestScenarios(t *testing.T) {
	every := func(testruns.Pair) bool { return true }
	testruns.MeetExpectations(t, etcdlocks.All(), 2, every, func(all []fence.Mode) []fence.Mode { return all })
}
