package etcdlocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/etcdlocks"
)

func TestKnownElsewhere(t *testing.T) {
	testruns.KnownElsewhere(t, etcdlocks.All(), "locksim/scenarios/etcdlocks")
}
