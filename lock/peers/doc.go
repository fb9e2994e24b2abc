// Command peers measures the locks of package lock beside other Go locks on real Redis servers, which it
// starts on the loopback interface, and prints a report in Markdown:
//
//	go run . >../../reports/PEERS.md
//
// Figures of one run are compared with each other and with nothing else: the contenders take turns, round
// by round, on the same client and the same server, and what counts is the ratio of two in one round. It
// is a module of its own, so that the main module does not depend on the peers.
package main
