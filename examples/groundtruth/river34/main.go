//go:build ignore

// Command river34 has the leader election of River, as it is today.
package main

import (
	"time"

	"github.com/riverqueue/river/exposed"

	"locksim/examples/groundtruth"
	"locksim/examples/groundtruth/elections"
	"locksim/scenarios"
)

func main() {
	const between = 5 * time.Second // two elections, and a second of jitter
	l := elections.Lock(exposed.Elect, between+time.Second, exposed.Tables()...)
	groundtruth.Main(map[string]scenarios.Lock{"river-1213": l})
}
