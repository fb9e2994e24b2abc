// Package matrices has the document of a matrix: what each lock did in each scenario behind each fence. Package
// [locksim/scenarios/matrix] makes it, reports show it.
package matrices
