package bruteforce_test

import (
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
	excused, stayed, late, wrong := 0, 0, 0, 0
	for seed := range uint64(n) {
		h := randomHistory(seed)
		for i := range h.Grants {
			g := &h.Grants[i]
			g.Until, g.UntilSeen, g.Revived, g.Doubted, g.ExpiredAtCall = 0, 0, 0, 0, false
		}
		if h.Timing == nil || h.Validate() != nil {
			continue
		}
		before, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		detection := time.Duration(seed%4) * 10 * time.Millisecond
		v, err := checker.Judge(h.HeldUntilTold(detection), nil)
		if err != nil {
			t.Fatal(err)
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
	t.Logf("%d overlaps excused, %d stayed, %d grants arrived late, %d histories judged differently", excused, stayed, late, wrong)
	if n >= 1000 && (excused < 100 || stayed < 100) || n >= 20_000 && late < 10 {
		t.Errorf("%d overlaps were excused, %d stayed, %d grants arrived late: too few of a kind", excused, stayed, late)
	}
}
