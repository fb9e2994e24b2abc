// Package tunings has the document of a choice of a TTL: for each length of a lease, how often a section outlives it,
// what that does, and for how long a crash blocks the others. Package [locksim/scenarios/tune] computes it, package
// [locksim/scenarios/tune/trial] plays it, reports show it.
package tunings
