// Costs measures what each lock costs on real servers on the loopback interface, and writes reports/COSTS.md.
//
//	go -C internal/dev run ./costs           # make costs: measures, in 20 minutes; goes on after an interruption
//	go -C internal/dev run ./costs -stored   # measures nothing: the page of what is stored
//	go -C internal/dev run ./costs -only etcd -results FILE   # some systems alone
//
// rows.go has what is measured: a row is a lock with a way of waiting on the servers of a system. A cell is a row
// under a load, so many clients on so many keys. Beside each cell a SET on a Redis is measured, by as many clients:
// the page has ratios to that alone. All cells are measured once in each round, so that what else the machine does is
// in the spread.
//
// Results are stored in results.jsonl, a line for each. A run that was interrupted goes on at the same commit, another
// one begins anew. The page is a pure function of the results. The progress goes to stderr, the page to stdout.
// Servers that are not installed are left out, and the page says which; with LOCKSIM_REQUIRE_LIVE=1 they are an error.
// The exit code is 0, 1 when a measurement fails, and 2 for bad usage.
package main
