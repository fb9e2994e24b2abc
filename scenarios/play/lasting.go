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
	var total time.Duration
	form, _ := faults.Open(a)
	for _, field := range form.Fields {
		switch holds := field.Holds.(type) {
		case faults.Length:
			total += *holds.To
		case faults.Offset:
			late := max(*holds.To, -*holds.To) // a key may live so much longer by a clock that was set back (F19)
			if holds.Each {
				late *= manyTimes
			}
			total += late
		}
	}
	return total
}
