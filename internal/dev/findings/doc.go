// Findings measures the power of the search: how many runs with random schedules it
// takes to find a violation of a lock that is wrong on purpose.
//
//	go -C internal/dev run ./findings [-run REGEXP] [-most N] [-results FILE]
//
// Each specimen is searched within the class of fault and the TTLs that it
// declares, and the lock single under pauses, each from three first seeds. Two
// numbers are counted: the runs until the first violation of any kind, and until
// the first that shows the specimen's own mistake. See mistake.go for the
// difference.
//
// The progress goes to stderr, the table to stdout as Markdown. The table does not
// depend on the machine or the time, so that a copy of it can be committed and
// compared. With -results a run that was interrupted goes on at the same commit. The
// exit code is 0, 1 when a search finds nothing or a run does not end, and 2 for bad
// usage.
package main
