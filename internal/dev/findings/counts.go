package main

import (
	"fmt"
	"strings"
)

// counts are the numbers of runs of searches; 0 stands for a search that found
// nothing.
type counts []int

// missed is the number of searches that found nothing.
func (c counts) missed() int {
	n := 0
	for _, runs := range c {
		if runs == 0 {
			n++
		}
	}
	return n
}

// String is "41, 22, –".
func (c counts) String() string {
	var out []string
	for _, runs := range c {
		if runs == 0 {
			out = append(out, "–")
			continue
		}
		out = append(out, fmt.Sprint(runs))
	}
	return strings.Join(out, ", ")
}
