// Findings measures the power of the search: how many runs it takes until a lock
// that is wrong on purpose is found out by random schedules.
//
//	go run ./internal/findings [-run REGEXP] [-most N]
//
// Each specimen is searched within the class of fault and the TTLs that it says
// of itself, and the lock single under pauses, each from three first seeds. Two
// things are counted: the runs until the first violation of any kind, and until
// the first that shows the specimen's own mistake. See telling.go for the
// difference.
//
// The progress goes to stderr, the table to stdout as Markdown. Nothing in it
// depends on the machine or the time, so that a copy of it can be kept and
// compared. The exit code is 0, 1 when a search has found nothing or a run
// came to no end, and 2 for bad usage.
package main
