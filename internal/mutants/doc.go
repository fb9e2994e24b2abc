// Mutants is the mutation test of locksim itself: it makes one realistic mistake
// at a time in the locks, the checkers, the driver or the world, and requires that a
// named test fails.
//
//	go run ./internal/mutants [-run REGEXP] [-j N] [-markdown]
//
// Each mutant is a patch, patches/GROUP/NAME.patch: a sentence about what the mutant
// breaks, a line "Test: PACKAGE TEST", an empty line, and a unified diff of one file. To
// make one, edit the file and use the output of git diff -U1. The lines of a hunk must
// be in the file exactly once; its line numbers are ignored, so that the patch stays
// valid when the file changes elsewhere.
//
// A patch is applied in memory, and the go command gets the result by its flag -overlay,
// so the source tree does not change. The named tests must first pass without a mutant.
// -run selects by the names GROUP/NAME.
//
// The exit code is 0 when every mutant is killed, 1 when one is not or when the run
// cannot be completed (a patch does not fit the source, a test fails without a
// mutant, Ctrl-C), and 2 for bad usage.
//
// A mutant whose test does not end, or that does not compile, is not killed.
//
// The progress goes to stderr, the table to stdout. The table does not depend on the
// machine or the time, so that a committed copy can be compared with it.
package main
