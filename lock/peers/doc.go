// Command peers compares the locks of package lock with other Go locks on real Redis servers, which it starts on the
// loopback interface, and prints a report in Markdown:
//
//	go run . >../../reports/PEERS.md
//
// Only figures of one run are compared: the contenders take turns, round by round, on the same client and the same
// server, and the result is the ratio of two in one round. It is a separate module, so that the main module does not
// depend on the peers.
package main
