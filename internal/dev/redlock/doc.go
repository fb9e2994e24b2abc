// Redlock measures how often a Redlock fails beside other locks, and writes reports/REDLOCK.md.
//
//	go -C internal/dev run ./redlock -table [-stored | -anew] [-journal FILE] [-cells REGEXP]
//	go -C internal/dev run ./redlock -files
//
// A cell is one lock under one trouble of one size: a scenario in reports/redlock, played with many seeds by
// locksim matrix, whose command the page has. The runs of a cell and the sizes of a trouble are in cells.go. What was
// said about Redlock is in argument.yaml, each with the cells that it is about. Results are stored in results.jsonl, a
// line for each cell; one that is stored is played again only if its scenario has changed, or with -anew. -files writes
// the scenarios alone.
//
// The progress goes to stderr. The exit code is 0, 1 when a run fails, and 2 for bad usage.
package main
