package sqllocks_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
)

// A server that loses its power while it has a request does not reset the connection. The client asks again within a
// TTL.
func TestPowerLostWithARequest(t *testing.T) {
	sc, err := file.Parse("power.yaml", []byte(`name: power
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {kind: sql-table-watchdog, ttl: 10s, backoff: 100ms}
workload: {rounds: 1, hold: 100ms, think: 0s, stagger: 0s, checks_until: never}
faults:
  - when: {client: c0, event: write, nth: 1}
    crash: {process: p0, mode: power}
  - when: {client: c0, event: write, nth: 1}
    restart: {process: p0}
  - when: {client: c0, event: granted, nth: 1}
    stall: {node: p0, for: 150ms}
`), subject.ServerNames(sqllocks.All()...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range sqllocks.All() {
		if strings.HasPrefix(l.Name, "broken/") {
			continue
		}
		sc.Lock.Kind = l.Name
		out, err := play.Run(sc, l, play.RunOptions{Seed: 7300388})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Modes {
			if m.Verdict.Label == checker.Stuck {
				t.Errorf("%s in mode %s: %s", l.Name, m.Mode, m.Verdict.Reasons[0].Text)
			}
		}
	}
}
