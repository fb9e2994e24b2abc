// Package mechanical makes mutants without a thought: small changes of one place of a file, all that there are, of
// which a seed draws a sample. It runs the tests of a package with each.
//
// The sample of package lock is in sample.json, with what the unit tests make of each; package reach searches those
// that they kill. A result there is kept when package lock changes elsewhere, if that is asked for, and is marked then.
// The packages of the judge have a sample for each seed, which is in no file; unseen.txt has the reasons why no run can
// show some of their mutants.
package mechanical
