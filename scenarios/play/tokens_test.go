package play_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// mints is the kind fenced without its duties, whose leases have other tokens.
func mints(t *testing.T, token func(uint64) uint64) subject.Lock {
	t.Helper()
	l := testruns.Kind(t, "fenced")
	l.Name, l.Promise.Duties = "my-lock", nil
	right := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := right(e)
		return unfaithful{Locker: locker, lease: func(l lock.Lease) lock.Lease {
			return unfaithfulLease{Lease: l, token: func() uint64 { return token(l.Token()) }}
		}}, err
	}
	return l
}

// inTurn is a scenario in which three clients have the lock one after another.
func inTurn(t *testing.T) *file.Scenario {
	t.Helper()
	return testruns.Parse(t, "name: in-turn\nworld: {clients: 3, latency: 1ms}\nlock: {ttl: 2s, backoff: "+
		"100ms..200ms}\nworkload: {rounds: 1, hold: 1s}\n")
}

// A lock that says that it mints tokens, and gives out none, is an error that says what to do. With the promise that
// its leases are as their interface says, it has broken that.
func TestTokensThatAreNone(t *testing.T) {
	for name, token := range map[string]func(uint64) uint64{
		"no token":                  func(uint64) uint64 { return 0 },
		"no token of a later grant": func(n uint64) uint64 { return n % 3 },
	} {
		t.Run(name, func(t *testing.T) {
			l := mints(t, token)
			_, err := play.Run(inTurn(t), l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			if _, ok := errors.AsType[*file.InputError](err); !ok ||
				!strings.Contains(err.Error(), "lock my-lock says Tokens, and the lease that c") {
				t.Errorf("error %v, want an *file.InputError about the token", err)
			}
			l.Tokens = false
			if v := verdictOf(t, l, inTurn(t)); v.Facts.Misconduct != 0 {
				t.Errorf("without tokens: %v", v.Reasons)
			}
			l.Tokens, l.Promise.Duties = true, testruns.Kind(t, "fenced").Promise.Duties
			if v := verdictOf(t, l, inTurn(t)); v.Label != checker.Misconduct ||
				!strings.Contains(v.Reasons[0].Text, "the lease has no token, although the lock mints tokens") {
				t.Errorf("with its duties: %s, %v", v.Label, v.Reasons)
			}
		})
	}
}

// Tokens that do not grow break the promise of every lock that mints them, unless it says that they have no order.
func TestTokensThatDoNotGrow(t *testing.T) {
	for name, tt := range map[string]struct {
		token func(uint64) uint64
		facts checker.Facts
		says  string
	}{
		"the same for all": {func(uint64) uint64 { return 5 }, checker.Facts{TokenDuplicates: 2}, "with token 5 at step"},
		"counted down":     {func(n uint64) uint64 { return 9 - n }, checker.Facts{TokenRegressions: 2}, ", below token "},
	} {
		t.Run(name, func(t *testing.T) {
			l := mints(t, tt.token)
			o := testruns.Play(t, inTurn(t), l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			v := o.Modes[0].Verdict
			if v.Label != checker.Regressed || v.Facts.TokenRegressions != tt.facts.TokenRegressions ||
				v.Facts.TokenDuplicates != tt.facts.TokenDuplicates ||
				!strings.Contains(v.Reasons[0].Text, tt.says) {
				t.Errorf("%s, %+v, %v", v.Label, v.Facts, v.Reasons)
			}
			want := outcome.Violation{Mode: fence.None, Label: checker.Regressed}
			if broken := outcome.Violations(o, l.JudgedBy()); !slices.Contains(broken, want) {
				t.Errorf("violations %v, want %v", broken, want)
			}
			for what, other := range map[string]subject.Lock{"its claims alone": l.ClaimsAlone(),
				"no order promised": unordered(l)} {
				if broken := outcome.Violations(o, other.JudgedBy()); slices.Contains(broken, want) {
					t.Errorf("%s: violations %v", what, broken)
				}
			}
		})
	}
}

// unordered is a lock that promises no order of its tokens, and nothing else but duties.
func unordered(l subject.Lock) subject.Lock {
	l.Promise.TokensUnordered = true
	return l.DutiesAlone()
}
