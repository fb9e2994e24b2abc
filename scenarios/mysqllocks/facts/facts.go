// Package facts has what every scenario file knows of the server and the locks of package mysqllocks, also in a program
// that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the server of package sim/mariadb. It has no standby, deletes nothing by itself, and has no scripts.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "mariadb", Prefix: "m",
		Lacks: []string{"edit_key", "evict", "failover", "flush", "read_only"},
	},
	Package: "locksim/scenarios/mysqllocks",
	Locks: []server.Lock{
		{Name: "mysql-table", Tokens: true},
		{Name: "mysql-for-update"},
		{Name: "mysql-queue"},
		{Name: "mysql-get-lock"},
		{Name: "mysql-version"},
		{Name: "broken/mysql-get-lock-pool"},
		{Name: "broken/mysql-name-case"},
		{Name: "broken/mysql-whole-seconds"},
		{Name: "broken/mysql-repeatable-read"},
		{Name: "broken/mysql-client-now", Tokens: true},
		{Name: "broken/mysql-missing-row"},
		{Name: "broken/mysql-dead-waiter"},
	},
}
