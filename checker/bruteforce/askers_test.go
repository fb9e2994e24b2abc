package bruteforce_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
)

// TestAskersAreTheSame takes histories in which clients ask again and again. The rules about what is over occur often:
// an idle time over all Acquires, trouble that was over before a call, a client that did not try to clean up, and one
// that has released the lock since. With LOCKSIM_SOAK=1 there are 20,000 histories.
func TestAskersAreTheSame(t *testing.T) {
	n := testruns.Soak(t, 20_000, 0.05)
	fired := map[string]int{"idle over all Acquires": 0, "trouble that was over": 0, "trouble that was not over": 0,
		"did not clean up": 0, "released since": 0}
	judged, wrong := 0, 0
	for seed := range uint64(n) {
		h := historyOfAskers(seed)
		if h.Timing == nil || h.Validate() != nil {
			continue
		}
		judged++
		v, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := differences(h, nil, v); len(all) > 0 {
			if wrong++; wrong <= 5 {
				t.Errorf("seed %d: %s\n%s", seed, strings.Join(all, "; "), text(reflect.ValueOf(h)))
			}
		}
		if slices.ContainsFunc(v.Reasons,
			func(r checker.Reason) bool { return strings.Contains(r.Text, "again and again") }) {
			fired["idle over all Acquires"]++
		}
		without := func(change func(timing *checker.Timing)) checker.Facts {
			timing := *h.Timing
			change(&timing)
			other := h
			other.Timing = &timing
			v, err := checker.Judge(other, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v.Facts
		}
		alwaysAway := without(func(timing *checker.Timing) {
			timing.Unlinked = map[string][]checker.Span{}
			for client := range h.Timing.Away {
				timing.Unlinked[client] = []checker.Span{{From: 0, To: 1 << 62}}
			}
		})
		if alwaysAway.Misconduct < v.Facts.Misconduct {
			fired["trouble that was over"]++
		}
		if without(func(timing *checker.Timing) { timing.Unlinked, timing.Away = nil, nil }).Misconduct > v.Facts.Misconduct {
			fired["trouble that was not over"]++
		}
		if without(func(timing *checker.Timing) { timing.Sends = nil }).SelfExcluded < v.Facts.SelfExcluded {
			fired["did not clean up"]++
		}
		other := h
		if other.Voters = 2; len(h.Votes) == 0 { // the rule is one of a lock on one server
			if v2, err := checker.Judge(other, nil); err != nil {
				t.Fatal(err)
			} else if v2.Facts.Overdue < v.Facts.Overdue {
				fired["released since"]++
			}
		}
	}
	t.Logf("%d histories, %d judged differently; rules that decided: %v", judged, wrong, fired)
	for rule, times := range fired {
		if n >= 1000 && times < n/40 {
			t.Errorf("%s: %d times in %d histories", rule, times, n)
		}
	}
}
