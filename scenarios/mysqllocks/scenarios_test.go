package mysqllocks_test

import (
	"os"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/kinds"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/redislocks"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqllocks.Stop(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

func TestScenarios(t *testing.T) {
	testruns.NeedsMariaDB(t)
	testruns.MeetExpectations(t, mysqllocks.All())
}

// The same seeds give the same traces in fresh processes at other numbers of processors, with each scenario and its own
// lock, on a server that has served other worlds and, in the second process, on a fresh one now and then.
// LOCKSIM_SOAK=10 is 200 seeds.
func TestEqualInFreshProcesses(t *testing.T) {
	testruns.NeedsMariaDB(t)
	seeds := testruns.Soak(t, 20, 0.1)
	runs := 0
	testruns.EqualInFreshProcesses(t, seeds, []string{"2", "1"}, func() (all []testruns.Pair) {
		library, err := redislocks.Library(mysqllocks.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range library {
			for _, l := range mysqllocks.All() {
				if sc.Lock.Kind == l.Name {
					all = append(all, testruns.Pair{Scenario: sc, Lock: l})
				}
			}
		}
		return all
	}, func(process int, _ uint64) {
		if runs++; process == 1 && runs%10 == 1 {
			if err := mysqllocks.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A paused holder overwrites the data of its successor, unless a fence refuses it, in the store or by the statements of
// package sqlguard, or the data is in the transaction that has the lock.
func TestPausedHolder(t *testing.T) {
	testruns.NeedsMariaDB(t)
	for _, l := range mysqllocks.All() {
		if strings.HasPrefix(l.Name, kinds.BrokenPrefix) || l.Promise.Unlocked {
			continue
		}
		for _, place := range []string{"store", "database", "transaction"} {
			t.Run(l.Name+" "+place, func(t *testing.T) {
				sc, err := scenarios.Parse("paused.yaml", []byte(`
name: paused
world: {mariadb: 1, clients: 2, latency: 1ms..5ms}
lock: {kind: mysql-table, ttl: 10s, backoff: 50ms..200ms}
workload: {rounds: 3, hold: 2s, think: 1s, data: `+place+`}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 25s}
`))
				if err != nil {
					t.Fatal(err)
				}
				fenced := fence.Claim
				if l.Tokens {
					fenced = fence.Seal
				}
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fenced},
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
