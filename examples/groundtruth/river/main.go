//go:build ignore

// Command river has the leader election of River, as it was in its first versions.
package main

import (
	"time"

	"github.com/riverqueue/river/exposed"

	"locksim/examples/groundtruth"
	"locksim/examples/groundtruth/elections"
	"locksim/scenarios"
)

func main() {
	// As the migrations of River make it.
	const table = `CREATE UNLOGGED TABLE river_leader (elected_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
		leader_id text NOT NULL, name text PRIMARY KEY,
		CONSTRAINT name_length CHECK (char_length(name) > 0 AND char_length(name) < 128),
		CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128))`
	const between = 5 * time.Second // two elections
	l := elections.Lock(exposed.Elect, between+time.Second, table)
	groundtruth.Main(map[string]scenarios.Lock{"river-197": l, "river-217": l})
}
