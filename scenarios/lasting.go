package scenarios

import (
	"time"

	"locksim/faults"
)

// manyTimes is more often than a round waits for a timer or a message that a
// fault makes late.
const manyTimes = 50

// lastsFor is how much later a run may end for an action: as long as it works,
// as far as it says, and what it adds to each of the things that it makes late.
func lastsFor(a faults.Action) time.Duration {
	switch a := a.(type) {
	case faults.Pause:
		return a.For
	case faults.Partition:
		return a.For
	case faults.Slow:
		return a.For + manyTimes*a.By
	case faults.ExhaustPool:
		return a.For
	case faults.ClockDrift:
		return a.For
	case faults.ClockFreeze:
		return a.For
	case faults.ClockJump:
		return max(a.By, -a.By) // a key may live so much longer (F19)
	case faults.DelayMessage:
		return a.By
	case faults.Refuse:
		return a.For
	case faults.Stall:
		return a.For
	case faults.ReadOnly:
		return a.For
	}
	return linkLastsFor(a)
}

// linkLastsFor is lastsFor for what slows links down.
func linkLastsFor(a faults.Action) time.Duration {
	switch a := a.(type) {
	case faults.Latency:
		return a.For + manyTimes*(a.Add+a.Jitter)
	case faults.Bandwidth:
		return a.For
	case faults.Slice:
		return a.For + manyTimes*a.Delay
	case faults.SlowClose:
		return a.For + manyTimes*a.Delay
	}
	return 0
}
