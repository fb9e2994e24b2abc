// Package comparisons has the document of a comparison of locks: what each needs, what its calls cost, and which fence
// kept the data right under each fault. Package [locksim/scenarios/compare] makes it, reports show it.
package comparisons
