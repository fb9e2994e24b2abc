// Package testreports has what the tests of all report formats share: outcomes,
// matrices, explorations, reviews and comparisons that are written by hand, since
// what a report looks like must not depend on how the world happens to run today, and
// the comparison with golden files.
package testreports
