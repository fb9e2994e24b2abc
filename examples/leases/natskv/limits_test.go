package natskv_test

import (
	"strings"
	"testing"

	"locksim/examples/leases/natskv"
	"locksim/scenarios"
)

// Faults that the server would not feel are refused: a run with one of them would pass, and prove nothing.
func TestClockOfTheServerCannotChange(t *testing.T) {
	for _, fault := range []string{"clock_jump: {clock: n0, by: 1h}", "clock_drift: {clock: n0, ppm: 500}",
		"clock_freeze: {clock: n0, for: 1s}"} {
		text := "name: x\nworld: {nats: 1, clients: 2}\nlock: {kind: nats-kv, ttl: 4s}\nfaults: [{at: 1s, " + fault + "}]\n"
		kind, _, _ := strings.Cut(fault, ":")
		if _, err := scenarios.Parse("x.yaml", []byte(text), natskv.KV()); err == nil ||
			!strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), "n0") {
			t.Errorf("%s: %v", fault, err)
		}
		onClient := strings.ReplaceAll(text, "n0", "c0")
		if _, err := scenarios.Parse("x.yaml", []byte(onClient), natskv.KV()); err != nil {
			t.Errorf("on a client: %v", err)
		}
	}
}
