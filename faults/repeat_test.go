package faults_test

import (
	"errors"
	"testing"
	"time"

	"locksim/faults"
)

// A fault says how often it strikes, and refuses what makes no sense.
func TestRepeats(t *testing.T) {
	stall := faults.Stall{Node: "r0", For: time.Second}
	for _, c := range []struct {
		fault       faults.Fault
		most        int
		says, field string // its words, or the field that is wrong
	}{
		{faults.Fault{Action: stall}, 1, "stall r0 for 1s, at 0s", ""},
		{faults.Fault{Action: stall, At: 5 * time.Second, Every: 15 * time.Second}, faults.MaxTimes,
			"stall r0 for 1s, at 5s, and every 15s after that", ""},
		{faults.Fault{Action: stall, When: &faults.Event{Client: "c0", Name: "read", Nth: 1}, Every: time.Second, Times: 3,
			Probability: 80}, 3,
			"stall r0 for 1s, when c0 passes read, and every 1s after that, 3 times in all, with a probability of 80 percent",
			""},
		{faults.Fault{Action: stall, Every: -1}, 0, "", "every"},
		{faults.Fault{Action: stall, Every: time.Microsecond}, 0, "", "every"},
		{faults.Fault{Action: stall, Times: 2}, 0, "", "times"},
		{faults.Fault{Action: stall, Every: time.Second, Times: faults.MaxTimes + 1}, 0, "", "times"},
		{faults.Fault{Action: stall, Probability: 100}, 0, "", "probability"},
	} {
		err := c.fault.Validate()
		if wrong, ok := errors.AsType[*faults.FieldError](err); ok != (c.field != "") || ok && wrong.Field != c.field {
			t.Errorf("%+v: Validate = %v, want an error about %q", c.fault, err, c.field)
		}
		if c.field == "" && (c.fault.Most() != c.most || c.fault.String() != c.says) {
			t.Errorf("%q strikes %d times, want %q and %d", c.fault, c.fault.Most(), c.says, c.most)
		}
	}
}
