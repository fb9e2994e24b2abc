// Mutants is the mutation test of locksim itself: it plants one realistic
// mistake at a time in the locks, the checkers or the world, and demands that a
// named test notices it.
//
//	go run ./internal/mutants [-run REGEXP] [-j N] [-markdown]
//
// Each mutant replaces one piece of text of one file by way of the -overlay flag
// of the go command, so the source tree is never touched. The named tests must
// pass without a mutant first. The exit code is 0 when every mutant is killed, 1
// when one survives or the table no longer fits the source, and 2 for bad usage.
//
// The progress goes to stderr, the table to stdout. Nothing in the table depends
// on the machine or the time, so that a copy of it can be kept and compared.
package main
