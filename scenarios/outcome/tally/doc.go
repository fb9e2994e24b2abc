// Package tally has the figures of many runs as data: how they ended, what is evidence, which faults struck and were
// felt, and how much was not seen. Package [locksim/scenarios/search] counts, reports show.
package tally
