package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
)

func TestScenarios(t *testing.T) { testruns.MeetExpectations(t, etcdlocks.All()) }
