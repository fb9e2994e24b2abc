// Package book has what programs have in common that play many things, keep each result in a file, and write pages
// of the results: those of reports/LIBRARIES.md and reports/GROUNDTRUTH.md.
//
// A [Book] is a file with a line of JSON for each result, by which such a program goes on after an interruption. Of the
// results with one key the latest counts; the others stay in the file. [Builder] builds the programs that are played,
// [Do] plays them, some at a time, [Output] and [Ask] run one and say how much CPU time it took. [Publish] writes the
// pages, and [Differ] is for the test that the repository has those of the stored results.
//
// Each result has the commit at which its program was built, and the pages say it. A [Checkout] says which results
// are of another commit than it is, or of changes that no commit has. Such a result is not wrong: it is played again
// only with -anew, one of the [Choices] that all these programs have as flags.
package book
