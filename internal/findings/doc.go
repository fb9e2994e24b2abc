// Findings measures the power of the search: the number of runs until random
// schedules find a violation of a lock that is wrong on purpose.
//
//	go run ./internal/findings [-run REGEXP] [-most N]
//
// Each specimen is searched within its class of fault and its TTLs, and the
// lock single under pauses, each from three first seeds. Findings counts the
// runs until the first violation of any kind, and until the first that shows
// the specimen's own mistake. See mistake.go for the difference.
//
// The progress goes to stderr, the table to stdout as Markdown. The table does
// not depend on the machine or the time, so that a copy can be stored and
// compared. The exit code is 0, 1 if a search found nothing or a run failed,
// and 2 for bad usage.
package main
