// Mutants is the mutation test of locksim itself: it makes one realistic mistake
// at a time in the locks, the checkers, the driver or the world, and requires that a
// named test fails.
//
//	go -C internal/dev run ./mutants [-run REGEXP] [-j N] [-markdown]
//
// Each mutant is a patch, patches/GROUP/NAME.patch; package patch has the format. Its
// header is a line "Test: PACKAGE TEST".
//
// The named tests must first pass without a mutant.
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
