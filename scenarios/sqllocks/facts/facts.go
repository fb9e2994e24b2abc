// Package facts has what every scenario file knows of the server and the locks of package sqllocks, also in a program
// that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the server of package sim/postgres. It has no standby, deletes nothing by itself, and has no scripts.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "postgres", Prefix: "p",
		Lacks: []string{"edit_key", "evict", "failover", "flush", "read_only"},
	},
	Package: "locksim/scenarios/sqllocks",
	Locks: []server.Lock{
		{Name: "sql-table", Tokens: true},
		{Name: "sql-table-watchdog", Tokens: true},
		{Name: "sql-for-update"},
		{Name: "sql-advisory"},
		{Name: "sql-advisory-tx"},
		{Name: "sql-optimistic"},
		{Name: "broken/sql-release-without-owner"},
		{Name: "broken/sql-takeover-unchecked"},
		{Name: "broken/sql-token-read-late", Tokens: true},
		{Name: "broken/sql-cleaner", Tokens: true},
		{Name: "broken/sql-advisory-pooled"},
		{Name: "broken/sql-two-locks"},
	},
}
