// Package comparisons has the document of a comparison of locks: what each needs, what its calls cost, and which faults
// it survives behind which fence. Package [locksim/scenarios/compare] makes it, reports show it.
package comparisons
