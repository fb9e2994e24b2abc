// Mutants is the mutation test of locksim itself: it makes one realistic mistake
// at a time in the locks, the checkers, the driver or the world, and demands that a
// named test notices it.
//
//	go run ./internal/mutants [-run REGEXP] [-j N] [-markdown]
//
// Each mutant is a patch, patches/GROUP/NAME.patch: a line that says what it
// breaks, a line "Test: PACKAGE TEST", an empty line, and a unified diff of one
// file. To make one, edit the file and take what git diff -U1 prints. The lines of a
// hunk must be in the file exactly once; its line numbers do not count, so that
// changes elsewhere in the file leave the patch in order.
//
// A patch is applied in memory, and the go command is given the result by its flag
// -overlay, so the source tree is never touched. The named tests must pass without
// a mutant first. -run chooses among the names GROUP/NAME.
//
// The exit code is 0 when every mutant is killed, 1 when one is not or when the run
// cannot be completed (a patch does not fit the source, a test fails without a
// mutant, Ctrl-C), and 2 for bad usage.
//
// A mutant whose test does not end, or which does not compile, is not killed.
//
// The progress goes to stderr, the table to stdout. Nothing in the table depends
// on the machine or the time, so that a copy of it can be kept and compared.
package main
