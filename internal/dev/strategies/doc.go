// Package strategies measures how soon the strategies of package search find mistakes in locks.
//
// mistakes.txt has the mistakes: patches of package reach and specimens of package lock/broken. Most took the strategy
// swarm more than a hundred runs in the median, or were missed, when the list was made; the list was committed before
// there was another strategy. Each mistake is searched from several first seeds by each strategy, in turns in one
// process, so that they share what disturbs the machine. A search ends when its CPU time is over, and counts as cut off
// then: its true time is longer.
//
// The results go line by line into a file, so that a measurement goes on after an interruption. Runs do not depend on
// the machine; seconds do, and their ratios little.
package strategies
