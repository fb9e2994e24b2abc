// Package spaces has what a search may draw as data, and the names of faults by which it is told. Package
// [locksim/scenarios/search] draws from it.
package spaces
