// Package facts has what every scenario file knows of Sentinels and the locks of package sentinellocks, also in a
// program that does not have them.
package facts

import "locksim/scenarios/kinds/server"

// Server is the Sentinels of package sim/sentinel. They have no data.
var Server = server.Kind{
	Facts: server.Facts{
		Name: "sentinel", Prefix: "sen", Watches: true,
		Lacks: []string{"edit_key", "error_reply", "evict", "flush", "read_only"},
	},
	Package: "locksim/scenarios/sentinellocks",
	Locks: []server.Lock{
		{Name: "sentinel-single"},
		{Name: "sentinel-fenced", Tokens: true},
		{Name: "sentinel-watchdog"},
		{Name: "sentinel-watchdog-fenced", Tokens: true},
		{Name: "sentinel-reentrant"},
		{Name: "sentinel-reentrant-fenced", Tokens: true},
		{Name: "sentinel-fair"},
		{Name: "sentinel-fair-fenced", Tokens: true},
		{Name: "broken/sentinel-reads-replica"},
		{Name: "broken/sentinel-asks-once"},
		{Name: "broken/sentinel-old-release"},
		{Name: "broken/sentinel-wait"},
	},
}
