package outcome

import (
	"strings"
	"testing"

	"locksim/sim/trace"
)

// A server that only keeps a lease does not end it: its clients do, by their own clocks.
func TestWhoEndsAKey(t *testing.T) {
	for want, c := range map[string]trace.KeyChange{
		"lets the key k of c0 expire": {Change: trace.KeyExpired, WasOf: "c0"},
		"sees the key k of c0 not renewed for as long as it says: another client may take it": {
			Change: trace.KeyExpired, WasOf: "c0", ByClients: true},
		"loses the key k of c0: it is evicted":              {Change: trace.KeyEvicted, WasOf: "c0"},
		"no longer has the key k of c0: its slot has moved": {Change: trace.KeyMoved, WasOf: "c0"},
		"no longer has the key k of c0, as its primary":     {Change: trace.KeyReplicated, WasOf: "c0"},
		"no longer has the key k of c0":                     {Change: trace.KeyRestored, WasOf: "c0"},
		"no longer has the key k of c0: an operator has taken it away": {
			Change: trace.KeyOperated, WasOf: "c0"},
		"no longer has the key k of c0: an operator has written operator over it": {
			Change: trace.KeyOperated, Value: "operator", WasOf: "c0"},
	} {
		if got := (keyTeller{}).gone(c, "k", ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (keyTeller{}).gone(c, "k", ", prolonged once, last at 1.000s,"); strings.Contains(got, ",:") ||
			strings.HasSuffix(got, ",") {
			t.Errorf("renewed before: %q", got)
		}
	}
}
