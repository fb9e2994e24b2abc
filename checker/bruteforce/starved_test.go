package bruteforce_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"locksim/checker"
)

// TestCrowdsAreJudgedTheSame has histories of many waits, of which one in some lasts very long.
func TestCrowdsAreJudgedTheSame(t *testing.T) {
	starved := 0
	for seed := range uint64(60) {
		h := newCrowd(rand.New(rand.NewPCG(seed, 0)))
		v, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences(h, nil, v) {
			t.Errorf("seed %d: %s", seed, d)
		}
		if v.Facts.Starved > 0 {
			starved++
		}
	}
	if starved < 6 || starved > 54 {
		t.Errorf("a client starved in %d of 60", starved)
	}
}

// newCrowd is a lock that is granted to a client that is drawn, and to one client seldom.
func newCrowd(r *rand.Rand) checker.History {
	h := checker.History{Final: map[checker.Cell]string{}, Ordered: r.IntN(2) == 0,
		Timing: &checker.Timing{Undisturbed: math.MaxInt64, Grace: time.Hour}}
	clients, now := 3, checker.Pos(10)
	asked := make([]checker.Pos, clients)
	for i := range asked {
		asked[i] = now
		now++
	}
	for id := range 14 + r.IntN(14) {
		i := 1 + r.IntN(clients-1)
		if r.IntN(25) == 0 {
			i = 0
		}
		g := checker.Grant{ID: id + 1, Client: fmt.Sprintf("c%d", i), Resource: "a", Invoked: asked[i], Granted: now}
		now += checker.Pos(1 + r.IntN(3))
		g.Released, g.ReleaseReturned, g.ReleaseSucceeded = now, now+1, true
		asked[i] = now + 2
		now += 3
		h.Grants = append(h.Grants, g)
	}
	if r.IntN(3) == 0 {
		h.Attempts = []checker.Attempt{{Client: "c9", Resource: "a", Invoked: 5, Returned: now,
			Outcome: checker.OutcomeFailed}}
	}
	if r.IntN(3) == 0 {
		h.Timing.Undisturbed = time.Duration(r.IntN(int(now))) * time.Second
	}
	for p := range int(now) + 5 {
		h.Timing.At = append(h.Timing.At, time.Duration(p+1)*time.Second)
	}
	return h
}
