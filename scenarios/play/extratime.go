package play

import (
	"time"

	"locksim/faults"
)

// manyTimes is more than the number of times that a round waits for a timer or a
// message that a fault delays.
const manyTimes = 50

// extraTime is how much longer a run may take because of an action: the length and
// the offset of the fault, and for each delayed message or timer its delay.
func extraTime(a faults.Action) time.Duration {
	var total time.Duration
	form, _ := faults.Open(a)
	for _, field := range form.Fields {
		switch holds := field.Holds.(type) {
		case faults.Length:
			total += *holds.To
		case faults.Offset:
			late := max(*holds.To, -*holds.To) // on a clock that was set back a key exists so much longer (F19)
			if holds.Each {
				late *= manyTimes
			}
			total += late
		}
	}
	return total
}
