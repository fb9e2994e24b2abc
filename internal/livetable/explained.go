package main

// differences are what is known of cells in which the worlds differ: by the scenario, and the lock, which may be "".
var differences = []struct{ scenario, lock, why string }{}

// explanation says why the worlds differ in a cell; "" if it is not known.
func explanation(c cell) string {
	for _, d := range differences {
		if d.scenario == c.scenario.Name && (d.lock == "" || d.lock == c.lock.Name) {
			return d.why
		}
	}
	return ""
}
