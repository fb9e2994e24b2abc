package sqllocks_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/kinds"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := sqllocks.Stop(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// paused is a holder that is paused for longer than its lease, in a scenario with data at a place.
func paused(t testing.TB, data string) *scenarios.Scenario {
	t.Helper()
	sc, err := scenarios.Parse("paused.yaml", []byte(`
name: paused
world: {postgres: 1, clients: 3, latency: 1ms..5ms}
lock: {kind: sql-table, ttl: 10s, backoff: 1s..2s}
workload: {hold: 2s, stagger: 1s, data: `+data+`}
faults:
  - when: {client: c0, event: read}
    pause: {process: c0, for: 30s}
`))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// A paused holder overwrites the data of its successor, unless a fence refuses it, in the store or by the statements of
// package sqlguard, or the data is in the transaction that has the lock.
func TestPausedHolder(t *testing.T) {
	testruns.NeedsPostgres(t)
	for _, l := range sqllocks.All() {
		if strings.HasPrefix(l.Name, kinds.BrokenPrefix) || l.Name == "sql-table-watchdog" || // renewals stop in a pause
			l.Promise.Unlocked {
			continue
		}
		for _, place := range []string{"store", "database", "transaction"} {
			t.Run(l.Name+" "+place, func(t *testing.T) {
				fenced := fence.Claim
				if l.Tokens {
					fenced = fence.Seal
				}
				o, err := scenarios.Run(paused(t, place), l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fenced},
					Repeat: scenarios.Twice})
				if place == "transaction" && l.Data.Within == nil {
					if err == nil || !strings.Contains(err.Error(), "has no transaction") {
						t.Errorf("the error is %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				want := []checker.Label{checker.Corrupted, checker.Rescued}
				if place == "transaction" {
					want = []checker.Label{checker.Overlap, checker.Overlap}
				}
				for i, m := range o.Modes {
					if m.Verdict.Label != want[i] {
						t.Errorf("%s: %s, want %s: %s", m.Mode, m.Verdict.Label, want[i], m.Verdict.Reasons[0].Text)
					}
				}
			})
		}
	}
}

// A write in the transaction that has the lock takes effect with the release, or not at all: a holder that is paused
// after it has written loses the write, and the data is right.
func TestWriteOfALostTransaction(t *testing.T) {
	testruns.NeedsPostgres(t)
	sc, err := scenarios.Parse("lost.yaml", []byte(`
name: lost
world: {postgres: 1, clients: 3, latency: 1ms..5ms}
lock: {kind: sql-for-update, ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s, data: transaction}
faults:
  - when: {client: c0, event: written}
    pause: {process: c0, for: 30s}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []scenarios.Lock{sqllocks.ForUpdate(), sqllocks.AdvisoryTransaction()} {
		o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		run := o.Modes[0]
		if run.Verdict.Facts.Data != checker.DataRight {
			t.Errorf("%s: the data is %s", l.Name, run.Verdict.Facts.Data)
		}
		for _, op := range run.History.Ops {
			want := checker.OutcomeOK
			if op.ID == "c0.w2" {
				want = checker.OutcomeFailed
			}
			if op.Outcome != want || op.Accepted != (want == checker.OutcomeOK) {
				t.Errorf("%s: %s is %s, accepted: %v", l.Name, op.ID, op.Outcome, op.Accepted)
			}
		}
	}
}

// A read in the transaction that has the lock counts as of unknown outcome if its reply is lost: the database has
// served it (seed 1000265 of recipe A18).
func TestLostReadOfATransaction(t *testing.T) {
	testruns.NeedsPostgres(t)
	unknown := 0
	for _, after := range []string{"5ms", "15ms", "25ms", "35ms", "45ms", "55ms", "65ms"} {
		sc, err := scenarios.Parse("lost-read.yaml", []byte(`
name: lost-read
world: {postgres: 1, clients: 1, latency: 5ms}
lock: {kind: sql-for-update, ttl: 10s}
workload: {rounds: 1, hold: 1s, data: transaction}
faults:
  - when: {client: c0, event: granted}
    after: `+after+`
    lose_reply: {between: [c0], and: [p0], count: 1}
`))
		if err != nil {
			t.Fatal(err)
		}
		o, err := scenarios.Run(sc, sqllocks.ForUpdate(), scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatalf("after %s: %v", after, err)
		}
		for _, op := range o.Modes[0].History.Ops {
			if op.Kind == checker.Read && op.Outcome == checker.OutcomeUnknown {
				unknown++
			}
		}
	}
	if unknown == 0 {
		t.Error("no reply of a read was lost")
	}
}

// A client loses its power with the lock, and another one while it waits in the database behind it. The lock is free
// after a TTL for each, as it promises: the run is not stuck (seed 3538 of explore --lock sql-advisory --promise).
func TestHolderAndWaiterLosePower(t *testing.T) {
	testruns.NeedsPostgres(t)
	sc, err := scenarios.Parse("power.yaml", []byte(`
name: power
world: {postgres: 1, clients: 2, latency: 1ms}
lock: {kind: sql-advisory, ttl: 10s, backoff: 100ms, wait: notify}
workload: {rounds: 1, hold: 0s, think: 0s, stagger: 0s, checks_until: never}
faults:
  - when: {client: c0, event: granted}
    crash: {process: c0, mode: power}
  - at: 15ms
    crash: {process: c1, mode: power}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []scenarios.Lock{sqllocks.ForUpdate(), sqllocks.Advisory(), sqllocks.AdvisoryTransaction()} {
		o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 3538, Modes: []fence.Mode{fence.None}})
		if err != nil {
			t.Fatal(err)
		}
		if v := o.Modes[0].Verdict; !v.Label.Clean() {
			t.Errorf("%s is %s: %v", l.Name, v.Label, v.Reasons)
		}
	}
}

// Data that a lock does not have is refused, with the place in the file.
func TestDataThatALockDoesNotHave(t *testing.T) {
	single, err := scenarios.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	_, err = scenarios.Run(paused(t, "database"), single, scenarios.RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "paused.yaml:5:") ||
		!strings.Contains(err.Error(), "has no data in its servers") {
		t.Errorf("the error is %v", err)
	}
}

// A lock whose servers cannot be made here is not found, and the error says what to install.
func TestMissing(t *testing.T) {
	l := sqllocks.Table()
	missing := errors.New("PostgreSQL is missing")
	l.Servers[0].Kind.Missing = func() error { return missing }
	_, err := redislocks.Find(l.Name, []scenarios.Lock{l})
	if !errors.Is(err, subject.ErrUnknownLock) || !errors.Is(err, missing) {
		t.Errorf("the error is %v", err)
	}
	if _, err := scenarios.Run(paused(t, "store"), l, scenarios.RunOptions{}); !errors.Is(err, missing) {
		t.Errorf("the error of a run is %v", err)
	}
}
