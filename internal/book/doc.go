// Package book has what programs have in common that play many things, keep each result in a file, and write pages
// of the results: those of reports/LIBRARIES.md, GROUNDTRUTH.md, LIVE.md, REACH.md, SEARCH.md, FINDINGS.md and
// MUTANTS.md.
//
// A [Book] is a file with a line of JSON for each result, by which such a program goes on after an interruption. Of the
// results with one key the latest counts; the others stay in the file. [Builder] builds the programs that are played,
// [Do] plays them, some at a time, [Output] and [Ask] run one and say how much CPU time it took. [Publish] writes the
// pages, and [Differ] is for the test that the repository has those of the stored results. A program with one page
// prints it.
//
// Each result has the commit at which its program was built, and the pages say it. A [Checkout] says which results
// are of another commit than it is, or of changes that no commit has. Such a result is not wrong: it is made again
// only with -anew, one of the [Choices], by which [Chosen] opens a book and [Book.Kept] has its results. Results that
// are facts of one state of the code are always made again with another one: a book of them serves an interruption.
// Live runs have no commit, since a user plays them too: theirs is the digest of their scenario.
package book
