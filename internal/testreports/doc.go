// Package testreports has fixtures for the tests of all report formats: outcomes,
// matrices, explorations, reviews and comparisons, and the comparison with golden
// files. The fixtures are written by hand, so that a change of the simulated world
// does not change the golden files.
package testreports
