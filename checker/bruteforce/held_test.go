package bruteforce_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/checker/bruteforce"
	"locksim/internal/testruns"
)

// TestHeldUntilToldIsTheSame takes the histories for those of a lock whose leases are
// held until their holders are told of their loss. Overlaps of claims of each kind
// occur: excused ones and others. With LOCKSIM_SOAK=1 there are 20,000 histories.
func TestHeldUntilToldIsTheSame(t *testing.T) {
	n := testruns.Soak(t, 20_000, 0.05)
	excused, stayed, late, taken, wrong := 0, 0, 0, 0, 0
	for seed := range uint64(n) {
		h := randomHistory(seed)
		for i := range h.Grants {
			g := &h.Grants[i]
			g.Until, g.UntilSeen, g.Revived, g.Doubted, g.ExpiredAtCall = 0, 0, 0, 0, false
		}
		if h.Timing == nil || h.Validate() != nil {
			continue
		}
		addTakings(&h, rand.New(rand.NewPCG(seed, 2)))
		before, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		detection := time.Duration(seed%4) * 10 * time.Millisecond
		told := h.HeldUntilTold(detection)
		v, err := checker.Judge(told, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range told.Grants {
			if g.Taken {
				taken++
			}
		}
		late += v.Facts.LateGrants - before.Facts.LateGrants
		excused += before.Facts.ClaimOverlaps - v.Facts.ClaimOverlaps
		stayed += v.Facts.ClaimOverlaps
		label, facts := bruteforce.Judge(bruteforce.HeldUntilTold(h, detection), nil)
		all := different(v, label, facts)
		if len(all) == 0 {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("seed %d, detection %v: %s\n%s", seed, detection, strings.Join(all, "; "), text(reflect.ValueOf(h)))
		}
	}
	t.Logf("%d overlaps excused, %d stayed, %d grants arrived late, %d were taken, %d histories judged differently",
		excused, stayed, late, taken, wrong)
	if n >= 1000 && (excused < 100 || stayed < 100 || taken < n/40) || n >= 20_000 && late < 10 {
		t.Errorf("%d overlaps were excused, %d stayed, %d grants arrived late, %d were taken: too few of a kind", excused,
			stayed, late, taken)
	}
}

// addTakings adds requests that took the lock from its holder, at the positions that a history names and at others.
func addTakings(h *checker.History, dice *rand.Rand) {
	for _, g := range h.Grants {
		for dice.IntN(3) == 0 {
			at := g.Invoked + checker.Pos(dice.IntN(12))
			if int(at) > len(h.Timing.At) {
				break
			}
			taking := checker.Taking{Client: g.Client, Resource: g.Resource, By: []string{g.Client, "c0", "c1"}[dice.IntN(3)],
				At: at, Taken: h.Timing.At[at-1]}
			if dice.IntN(4) > 0 {
				taking.Until = taking.Taken + time.Duration(dice.IntN(60))*time.Millisecond
			}
			h.Takings = append(h.Takings, taking)
		}
	}
}
