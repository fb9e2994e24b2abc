package quickstart_test

import (
	"testing"

	"locksim/examples/quickstart"
	"locksim/examples/quickstart/adapter"
	"locksim/scenarios"
)

func TestMutex(t *testing.T) {
	scenarios.Check(t, adapter.Lock("mutex", (*quickstart.Mutex).Unlock), scenarios.Options{})
}
