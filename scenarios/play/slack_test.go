package play_test

import (
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// Runs have the slack that their clients and servers show: what was left of leases, when keys ended, who had how many
// servers.
func TestSlackOfRuns(t *testing.T) {
	for _, c := range []struct {
		scenario, lock string
		kind           checker.SlackKind
		least, most    int64 // nanoseconds, or a number
	}{
		{"gc-pause", "fenced", checker.SlackExpiry, 1, 20e6}, // the way of the request that set the key
		{"redis-clock-ahead", "single", checker.SlackExpiry, -5e9, -1e9},
		{"calm", "single", checker.SlackValidity, 9.9e9, 10e9},
		{"calm", "single", checker.SlackRelease, 1e6, 1e9},
		{"token-read-late", "broken/token-read-late", checker.SlackValidity, -1e12, 0},
		{"calm", "redlock", checker.SlackVotes, 2, 2},
		{"redlock-clock-jump", "redlock", checker.SlackVotes, -1, -1},
		{"redlock-wall-clock", "broken/redlock-wall-clock", checker.SlackVotes, -3, -3},
		{"clock-drift-within", "redlock", checker.SlackLease, 1e6, 1e9},
		{"clock-drift-within", "broken/redlock-no-drift", checker.SlackLease, -1e12, -1},
		{"calm", "fenced", checker.SlackTokens, 1, 1},
		{"calm", "single", checker.SlackWait, 1, 1e9},
	} {
		sc, _ := testruns.Load(t, c.scenario)
		l, err := redislocks.Find(c.lock, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0].Verdict
		if s, ok := v.SlackOf(c.kind); !ok || s.Value < c.least || s.Value > c.most {
			t.Errorf("%s, lock %s: slack %+v (%t), want %s from %d to %d\n%+v", c.scenario, c.lock, s, ok, c.kind, c.least,
				c.most, v.Slack)
		}
	}
}
