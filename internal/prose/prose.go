// Package prose formats numbers and lists for messages, terminals and pages.
// Its functions are safe for concurrent use.
package prose

import (
	"strconv"
	"strings"
)

// Thousands is a number with a comma between thousands: 12,340.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count is a number with its noun: "1 run", "12,340 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Evidence is a number of runs that are evidence, with what they are called: "1 run that tested
// the lock", "12,340 explored runs that tested the lock".
func Evidence(n int, noun string) string {
	return Count(n, noun) + " that tested the lock"
}

// Commas is a list of words: "none, check, seal".
func Commas[S ~string](words []S) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
