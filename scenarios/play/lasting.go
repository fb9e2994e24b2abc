package play

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
	length, _ := lengthOf(a)
	switch a := a.(type) {
	case faults.Pause:
		return a.For
	case faults.Slow:
		return length + manyTimes*a.By
	case faults.Latency:
		return length + manyTimes*(a.Add+a.Jitter)
	case faults.Slice:
		return length + manyTimes*a.Delay
	case faults.SlowClose:
		return length + manyTimes*a.Delay
	case faults.ClockJump:
		return max(a.By, -a.By) // a key may live so much longer (F19)
	case faults.DelayMessage:
		return a.By
	}
	return length
}

// untilHealed reports whether an action lasts until the world is healed: its
// length is 0, where actions of its kind have one.
func untilHealed(a faults.Action) bool {
	length, ok := lengthOf(a)
	return ok && length == 0
}

// lengthOf is how long an action lasts that may last until the world is healed,
// by its own word; ok is false for all others: those of a moment, and pauses,
// which always end.
func lengthOf(a faults.Action) (length time.Duration, ok bool) {
	switch a := a.(type) {
	case faults.Slow:
		return a.For, true
	case faults.ExhaustPool:
		return a.For, true
	case faults.ClockDrift:
		return a.For, true
	case faults.ClockFreeze:
		return a.For, true
	case faults.Refuse:
		return a.For, true
	case faults.Stall:
		return a.For, true
	case faults.ReadOnly:
		return a.For, true
	}
	return lengthOnLinks(a)
}

// lengthOnLinks is lengthOf for what happens to links.
func lengthOnLinks(a faults.Action) (length time.Duration, ok bool) {
	switch a := a.(type) {
	case faults.Partition:
		return a.For, true
	case faults.Latency:
		return a.For, true
	case faults.Bandwidth:
		return a.For, true
	case faults.Slice:
		return a.For, true
	case faults.SlowClose:
		return a.For, true
	}
	return 0, false
}
