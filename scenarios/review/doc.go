// Package review answers the question of a design review: is this lock suitable for
// that use, and under which faults is it not? [Work] says what is to be measured:
// the matrix of the lock, explorations within and beyond its promise, sweeps.
// [Assemble] derives figures from the results, and rules derive the advice from the
// figures alone.
package review
