package play_test

import (
	"errors"
	"testing"

	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// dialling is a correct lock that dials a server, and asks for the address of another one.
func dialling(server, also string) subject.Lock {
	l := testlocks.Correct("mine")
	l.New = func(e subject.Env) (lock.Locker, error) {
		if also != "" {
			_ = e.Address(also)
		}
		return lock.NewSingle(redisclient.New(e, server), testlocks.Options(e))
	}
	return l
}

// A lock that dials the first server by its own name is not judged by a failover, which moves the name of the primary.
func TestFailoverOfALockThatStays(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		l        subject.Lock
		stays    bool
	}{
		"by its own name":      {"split-brain", dialling("r0", ""), true},
		"by the primary":       {"split-brain", dialling(subject.Primary, ""), false},
		"with its replica too": {"split-brain", dialling("r0", "r0a"), false},
		"without a failover":   {"gc-pause", dialling("r0", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			sc, _ := testruns.Load(t, c.scenario)
			_, err := play.Run(sc, c.l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			if got := errors.Is(err, play.ErrStays); got != c.stays || !got && err != nil {
				t.Fatalf("the error is %v, want one about a lock that stays: %v", err, c.stays)
			}
			if input, ok := errors.AsType[*file.InputError](err); c.stays && (!ok || input.Pos.Line == 0) {
				t.Errorf("the error %v does not show where the failover is", err)
			}
		})
	}
}
