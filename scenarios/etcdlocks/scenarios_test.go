package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
)

func TestScenarios(t *testing.T) {
	testruns.MeetExpectations(t, etcdlocks.All(), 2, func(all []fence.Mode) []fence.Mode { return all })
}
