package shrink

import (
	"slices"
	"time"
)

// roundTimes are the round times between two, in order: 1, 2, 3, … 9 of least,
// and 1, 1.5, 2, 3, … 9 of ten times that, of a hundred times; but from a minute
// on those that are round in minutes.
func roundTimes(least, most time.Duration) []time.Duration {
	var out []time.Duration
	for unit := least; unit <= most; unit *= 10 {
		for _, tenths := range []time.Duration{10, 15, 20, 30, 40, 50, 60, 70, 80, 90} {
			if d := unit * tenths / 10; d <= most && (unit > least || tenths%10 == 0) && digits(d) <= 2 {
				out = append(out, d)
			}
		}
	}
	return out
}

// rounderThan are times with fewer digits that differ by less than a quarter:
// with one digit, 1, 2 and 5 before the others, then with a half, then with two.
func rounderThan(d time.Duration) []time.Duration {
	least := time.Duration(1)
	if d >= time.Minute {
		least = tenth
	}
	unit := least
	for unit <= d/10 {
		unit *= 10
	}
	near := []time.Duration{unit, 2 * unit, 5 * unit, 10 * unit}
	for _, step := range []time.Duration{unit, max(unit/2, least), max(unit/10, least)} {
		near = append(near, d/step*step, d/step*step+step)
	}
	var out []time.Duration
	for _, n := range near {
		if digits(n) < digits(d) && max(d-n, n-d) <= d/4 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// tenth is the unit in which times from a minute on are counted.
const tenth = time.Minute / 10

// digits counts the digits of a time, without the zeros at its end. From a minute
// on the time counts in tenths of a minute, or has many digits.
func digits(d time.Duration) int {
	const many = 20
	if d >= time.Minute {
		if d%tenth != 0 {
			return many
		}
		d /= tenth
	}
	for d != 0 && d%10 == 0 {
		d /= 10
	}
	n := 0
	for ; d > 0; d /= 10 {
		n++
	}
	return n
}
