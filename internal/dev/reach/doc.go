// Package reach measures how much of what is wrong with a lock a search finds: it makes one mistake at a time in the
// locks, for a sample of all mistakes, and searches it from three first seeds as locksim explore --promise does.
//
// A mutant made by hand is a patch, patches/GROUP/NAME.patch; package patch has the format. Its header is a line
// "Kinds: KIND…", the kinds of lock that have the mistake and are tried, and, for a mutant that no lock's user could
// notice, a line "Equivalent: REASON". In the group order nothing but the order of messages or steps is wrong, in the
// group value nothing but a number: a benchmark of searches counts the two apart.
//
// The mechanical mutants, mechanical/NAME, are those of the sample of package mechanical that the unit tests of package
// lock kill. equivalent.txt has reasons as those of the patches.
//
// A mutant is searched in a second kind of lock only if nothing is found in the first. What is found must pass with the
// lock without the mistake: see package trials.
//
// The file --results gets a line of JSON for each mutant, so that a run that was interrupted goes on. The progress goes
// to stderr, the table to stdout as Markdown.
package reach
