package sqllocks_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
)

// A heartbeat that the database answers with an error: a transaction has failed then, and the lock with
// it, and a session goes on. A waiter whose first heartbeat after its grant meets one leaves nothing behind.
func TestHeartbeatRefused(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		lock       subject.Lock
		grants     int
	}{
		{"a holder in a transaction", `name: refused
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {kind: sql-for-update, ttl: 10s, backoff: 100ms}
workload: {rounds: 2, hold: 10s, think: 5s, checks_until: lost}
faults:
  - when: {client: c0, event: granted, nth: 1}
    error_reply: {node: p0, for: 5s}
`, sqllocks.ForUpdate(), 3},
		{"a waiter in a session", `name: refused
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {kind: sql-advisory, ttl: 10s, backoff: 100ms, wait: notify}
workload: {rounds: 1, hold: 5s, think: 0s}
faults:
  - when: {client: c0, event: write, nth: 1}
    error_reply: {node: p0, for: 10ms}
`, sqllocks.Advisory(), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.lock.Missing(); err != nil {
				t.Skip(err)
			}
			for seed := uint64(1); seed <= 5; seed++ {
				m := testruns.Play(t, testruns.Parse(t, tt.text), tt.lock,
					play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
				if m.Verdict.Label != checker.Safe || m.Verdict.Facts.Grants < tt.grants || !m.FaultsFelt[0] {
					t.Errorf("seed %d: %s after %d grants, felt %v: want %s after %d at least, felt", seed, m.Verdict.Label,
						m.Verdict.Facts.Grants,
						m.FaultsFelt[0], checker.Safe, tt.grants)
				}
			}
		})
	}
}
