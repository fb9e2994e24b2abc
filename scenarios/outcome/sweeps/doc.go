// Package sweeps has the document of a sweep: its plan, and what single faults and pairs of them did at the moments of
// one run. Package [locksim/scenarios/sweep] makes it, reports show it.
package sweeps
