package play_test

import (
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/lock/promise"
	"locksim/scenarios/play"
)

// What a lock says about its leases and its queue must fit together.
func TestValidateLease(t *testing.T) {
	for want, change := range map[string]func(l *play.Lock){
		`the Lease is "forever": choose until, counted or held`: func(l *play.Lock) { l.Lease = "forever" },
		"the LeaseTTL is 1s":                          func(l *play.Lock) { l.LeaseTTL = time.Second },
		"the LeaseTTL is -1s":                         func(l *play.Lock) { l.Lease, l.LeaseTTL = play.LeaseCounted, -time.Second },
		"the LeaseTTL is 0":                           func(l *play.Lock) { l.Lease, l.FollowsSpec = play.LeaseCounted, false },
		"the Detection is 0:":                         func(l *play.Lock) { l.Lease, l.FollowsSpec = play.LeaseHeld, false },
		"the Detection is 1s":                         func(l *play.Lock) { l.Detection = time.Second },
		"a negative number of Messages, or GrantTime": func(l *play.Lock) { l.GrantTime = -time.Second },
		"has a Queue and no Keys":                     func(l *play.Lock) { l.Queue, l.Keys = func(string) string { return "queue" }, nil },
	} {
		l := testlocks.Correct("theirs")
		change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The checker imports no package of locksim, so it has the causes that promises name
// too: they are the same.
func TestCausesAgree(t *testing.T) {
	var promised, found []string
	for _, c := range promise.Causes() {
		promised = append(promised, string(c))
	}
	for _, c := range checker.Causes() {
		found = append(found, string(c))
	}
	if strings.Join(promised, ",") != strings.Join(found, ",") {
		t.Errorf("promises name %q, the checker %q", promised, found)
	}
}
