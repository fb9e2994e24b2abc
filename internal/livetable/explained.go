package main

import (
	"fmt"
	"time"
)

// differences are what is known of cells in which the worlds differ: by the scenario, and the lock, which may be "".
var differences = []struct{ scenario, lock, why string }{}

// explanation says why the worlds differ in a cell; "" if it is not known.
func explanation(c cell) string {
	for _, d := range differences {
		if d.scenario == c.scenario.Name && (d.lock == "" || d.lock == c.lock.Name) {
			return d.why
		}
	}
	odd, late := 0, time.Duration(0)
	for _, r := range c.runs {
		if c.simulated[c.mode][r.Labels[c.mode]] > 0 {
			continue
		}
		if !r.disturbed(c.pair) {
			return ""
		}
		odd, late = odd+1, max(late, r.Late)
	}
	return fmt.Sprintf("the machine was late: in each of the %d runs that differ, by up to %v, where a lease lasts for %v",
		odd, late.Round(time.Millisecond), time.Duration(float64(c.scenario.Lock.TTL)*c.scale))
}
