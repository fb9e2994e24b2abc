package faults

import (
	"fmt"
	"strings"
	"time"
)

// MaxTimes is the most often that a fault may strike.
const MaxTimes = 1000

// Most is how often the fault strikes at most: once, so often as it says, or MaxTimes if it strikes until every client
// has ended its workload.
func (f Fault) Most() int {
	switch {
	case f.Every == 0:
		return 1
	case f.Times == 0:
		return MaxTimes
	}
	return f.Times
}

func (f Fault) validateRepeats() error {
	switch {
	case f.Every < 0 || f.Every > 0 && f.Every < time.Millisecond:
		return wrong("every", "%v is too short: give the time from one strike to the next, 1ms or more", f.Every)
	case f.Times < 0 || f.Times > MaxTimes:
		return wrong("times", "%d is out of range: give how often the fault strikes, 1 to %d", f.Times, MaxTimes)
	case f.Times > 0 && f.Every == 0:
		return wrong("times", "the fault strikes once: add the time from one strike to the next, such as every: 15s, or "+
			"leave times out")
	case f.Probability < 0 || f.Probability > 99:
		return wrong("probability", "%d is out of range: give a percentage from 1 to 99, such as 80, or leave probability "+
			"out for a fault that always strikes", f.Probability)
	}
	return nil
}

// repeats is the end of the phrase that the fault is: ", and every 15s after that, 4 times in all".
func (f Fault) repeats() string {
	var b strings.Builder
	if f.Every > 0 {
		fmt.Fprintf(&b, ", and every %v after that", f.Every)
	}
	if f.Times > 0 {
		fmt.Fprintf(&b, ", %d times in all", f.Times)
	}
	if f.Probability > 0 {
		fmt.Fprintf(&b, ", with a probability of %d percent", f.Probability)
	}
	return b.String()
}
