package main

import (
	"fmt"
	"strings"
	"time"
)

// table is one kind of trouble.
type table struct {
	// id is the beginning of the names of its scenarios.
	id string
	// rounds is how often each client wants the lock.
	rounds int
	// title and text say what the trouble is.
	title, text string
	// sizes are its columns, and column says of what.
	column string
	sizes  []size
	rows   []row
}

// size is a column of a table.
type size struct {
	// id is a part of the name of a scenario, and the value in it.
	id   string
	name string
}

// row is a lock, or a lock with so many nodes in trouble.
type row struct {
	// id is a part of the name of its scenarios; rows with the same one share them.
	id string
	// name is what the page calls it.
	name    string
	lock    string
	servers servers
	// faults are the faults of a size, as lines of a scenario.
	faults func(size string) []string
}

// servers are those of a row.
type servers struct {
	// world are its keys in a scenario.
	world string
	// quorum is how many nodes a Redlock has, if not five.
	quorum int
}

// Of a kind whose runs take long there are fewer.
const (
	manyRuns = 1000
	someRuns = 300
)

// slow are the locks whose runs take ten times as long as those on single Redis nodes.
var slow = map[string]bool{"etcd": true, "zookeeper": true, "sentinel-single": true, "broken/sentinel-wait": true}

func (r row) runs() int {
	if slow[r.lock] {
		return someRuns
	}
	return manyRuns
}

// cell is a row at a size of its table.
type cell struct {
	of   table
	row  row
	size size
}

// cells are all cells, in the order of the page.
func cells() []cell {
	var all []cell
	for _, t := range tables {
		for _, r := range t.rows {
			for _, s := range t.sizes {
				all = append(all, cell{t, r, s})
			}
		}
	}
	return all
}

// scenario is the name of its scenario.
func (c cell) scenario() string { return strings.Join([]string{c.of.id, c.row.id, c.size.id}, "-") }

// key is the cell.
func (c cell) key() key { return key{c.scenario(), c.row.lock} }

// nodes is the key of a lock that says how many nodes it has.
func (s servers) nodes() string {
	if s.quorum == 0 {
		return ""
	}
	return fmt.Sprintf(", nodes: %d", s.quorum)
}

// file is the path of its scenario in the checkout.
func (c cell) file() string { return folder + "/" + c.scenario() + ".yaml" }

// folder has the scenarios.
const folder = "reports/redlock"

// command makes the figures of the cell anew.
func (c cell) command() string {
	return fmt.Sprintf("locksim matrix --scenario %s --lock %s --fencing none --seeds %d", c.file(), c.row.lock,
		c.row.runs())
}

// yaml is its scenario: six clients that want one lock for a section of 4 s each, at drawn instants, and a trouble that
// finds a holder at any moment of its section.
func (c cell) yaml() string {
	var locks []string
	for _, r := range c.of.rows {
		if r.id == c.row.id {
			locks = append(locks, r.lock)
		}
	}
	lines := []string{
		"# Written by go -C internal/dev run ./redlock -files. Do not edit.",
		"name: " + c.scenario(),
		"title: " + c.of.title,
		"why: |",
		"  One of the cells of reports/REDLOCK.md: " + c.of.column + " " + c.size.name + ".",
		"world: {" + strings.ReplaceAll(c.row.servers.world, "SIZE", c.size.id) + ", clients: 6, latency: 1ms..5ms}",
		"lock: {kind: " + locks[0] + ", ttl: 10s, backoff: 300ms..600ms" + c.row.servers.nodes() + "}",
		fmt.Sprintf("workload: {rounds: %d, hold: 4s, think: 20s}", c.of.rounds),
		"faults:",
	}
	for _, f := range c.row.faults(c.size.id) {
		lines = append(lines, "  "+f)
	}
	lines = append(lines, "locks: ["+strings.Join(locks, ", ")+"]")
	return strings.Join(lines, "\n") + "\n"
}

// At this instant of a run all troubles begin.
const (
	begins  = 13 * time.Second
	strikes = "- at: 13s"
)

// jump sets the clocks of the first n servers with a prefix ahead.
func jump(prefix string, n int) func(string) []string {
	return func(size string) (lines []string) {
		for i := range n {
			lines = append(lines, strikes, fmt.Sprintf("  clock_jump: {clock: %s%d, by: %s}", prefix, i, size))
		}
		return lines
	}
}

// duration is a size that is a length of time, as all of the tables are.
func duration(size string) time.Duration {
	d, err := time.ParseDuration(size)
	if err != nil {
		panic("a size of a table is no length of time: " + err.Error())
	}
	return d
}

// pause stops the machine on which three of the clients are.
func pause(size string) (lines []string) {
	for i := range 3 {
		lines = append(lines, strikes, fmt.Sprintf("  pause: {process: c%d, for: %s}", i, size))
	}
	return lines
}

// delay makes all messages of the clients late, to and from locks and data.
func delay(size string) []string {
	return []string{strikes, fmt.Sprintf("  latency: {between: [c0, c1, c2, c3, c4, c5], add: %s, for: 10s}", size)}
}

// restart ends the processes of the first n servers with a prefix, which begin anew after a time.
func restart(prefix string, n int) func(string) []string {
	return func(size string) (lines []string) {
		for i := range n {
			lines = append(lines, strikes, fmt.Sprintf("  crash: {process: %s%d}", prefix, i))
		}
		for i := range n {
			lines = append(lines, fmt.Sprintf("- at: %v", begins+duration(size)),
				fmt.Sprintf("  restart: {process: %s%d}", prefix, i))
		}
		return lines
	}
}

// apart lets each client reach three nodes of five, the first and two others.
func apart(faults func(string) []string) func(string) []string {
	return func(size string) (lines []string) {
		for client, unreached := range []string{"r3, r4", "r1, r2", "r1, r3", "r2, r4", "r2, r3", "r1, r4"} {
			lines = append(lines, "- at: 0s",
				fmt.Sprintf("  partition: {between: [c%d], and: [%s], bytes: drop}", client, unreached))
		}
		return append(lines, faults(size)...)
	}
}

// promoted is the failover of an operator, to the replica.
func promoted(string) []string { return []string{strikes, "  failover: {to: r0a, old: fenced}"} }

// confirmedLost ends the primary and the replica that confirms, when the other one has been cut off for a time.
func confirmedLost(size string) []string {
	return []string{
		fmt.Sprintf("- at: %v", begins-duration(size)), "  partition: {between: [r0], and: [r0b, r0c], bytes: drop}",
		strikes, "  crash: {process: r0}",
		strikes, "  crash: {process: r0a}",
	}
}

// lost ends the primary.
func lost(string) []string { return []string{strikes, "  crash: {process: r0}"} }

const elected = ", sentinel: 3, down_after: 1s"

var (
	five       = servers{world: "redis: 5"}
	three      = servers{world: "redis: 3", quorum: 3}
	one        = servers{world: "redis: 1"}
	replicated = servers{world: "redis: 1, replicas: 1, lag: SIZE"}
	behind     = servers{world: "redis: 1, replicas: 1, lag: SIZE" + elected}
	watched    = servers{world: "redis: 1, replicas: 1" + elected}
	threefold  = servers{world: "redis: 1, replicas: 3" + elected}
	etcds      = servers{world: "etcd: 3"}
	keepers    = servers{world: "zookeeper: 3"}
)

// everyLock has a row for each lock under a trouble that strikes clients.
func everyLock(faults func(string) []string) []row {
	return []row{
		{"any", "Redlock, 5 nodes", "redlock", five, faults},
		{"renewed", "Redlock, 5 nodes, renewed", "redlock-watchdog", five, faults},
		{"of-3", "Redlock, 3 nodes", "redlock", three, faults},
		{"any", "one node", "single", five, faults},
		{"any", "primary and replica, Sentinels", "sentinel-single", five, faults},
		{"any", "etcd, 3 members", "etcd", five, faults},
		{"any", "ZooKeeper, 3 members", "zookeeper", five, faults},
	}
}

var tables = []table{
	{
		id: "clock", rounds: 1, title: "Wall clocks of servers jump ahead",
		text: "The wall clocks of some servers jump ahead at one moment, as one that is set does. A Redis node measures " +
			"the end of a key by its wall clock; etcd and ZooKeeper measure by one that does not jump.",
		column: "the jump is",
		sizes:  []size{{"2s", "2 s"}, {"5s", "5 s"}, {"7s", "7 s"}},
		rows: []row{
			{"1", "Redlock, 1 of 5 nodes jumps", "redlock", five, jump("r", 1)},
			{"2", "Redlock, 2 of 5 nodes jump", "redlock", five, jump("r", 2)},
			{"3", "Redlock, 3 of 5 nodes jump", "redlock", five, jump("r", 3)},
			{"5", "Redlock, all 5 nodes jump", "redlock", five, jump("r", 5)},
			{"apart-1", "Redlock, 1 of 5 jumps, each client reaches 3", "redlock", five, apart(jump("r", 1))},
			{"of-3-1", "Redlock, 1 of 3 nodes jumps", "redlock", three, jump("r", 1)},
			{"of-3-2", "Redlock, 2 of 3 nodes jump", "redlock", three, jump("r", 2)},
			{"single", "one node, which jumps", "single", one, jump("r", 1)},
			{"sentinel", "primary and replica, Sentinels: the primary jumps", "sentinel-single", watched, jump("r", 1)},
		},
	},
	{
		id: "pause", rounds: 1, title: "Clients stop for a while",
		text: "The machine on which three of the six clients run stands still from that moment on, whatever they are " +
			"doing, as in a collection of garbage or a migration.",
		column: "the pause lasts",
		sizes:  []size{{"2s", "2 s"}, {"7s", "7 s"}, {"9s", "9 s"}, {"15s", "15 s"}},
		rows:   everyLock(pause),
	},
	{
		id: "delay", rounds: 1, title: "All messages of the clients are late",
		text: "For 10 s each message between the clients and the servers, those of the lock and that of the data, takes so " +
			"much longer, in each direction.",
		column: "a message takes longer by",
		sizes:  []size{{"200ms", "0.2 s"}, {"1s", "1 s"}, {"7s", "7 s"}},
		rows:   everyLock(delay),
	},
	{
		id: "restart", rounds: 2, title: "Nodes restart without what they had in memory",
		text: "The processes of some servers end, and begin anew: those of Redis without their keys, those of etcd and " +
			"ZooKeeper with what is on their disks. 12 s are more than the TTL: that is the delayed restart of the " +
			"specification. Here each client wants the lock twice, so that they still do when the nodes are back.",
		column: "they begin anew after",
		sizes:  []size{{"100ms", "0.1 s"}, {"12s", "12 s"}},
		rows: []row{
			{"1", "Redlock, 1 of 5 nodes", "redlock", five, restart("r", 1)},
			{"2", "Redlock, 2 of 5 nodes", "redlock", five, restart("r", 2)},
			{"3", "Redlock, 3 of 5 nodes", "redlock", five, restart("r", 3)},
			{"apart-1", "Redlock, 1 of 5, each client reaches 3", "redlock", five, apart(restart("r", 1))},
			{"of-3-1", "Redlock, 1 of 3 nodes", "redlock", three, restart("r", 1)},
			{"of-3-2", "Redlock, 2 of 3 nodes", "redlock", three, restart("r", 2)},
			{"single", "one node", "single", one, restart("r", 1)},
			{"sentinel", "primary and replica, Sentinels: the primary", "sentinel-single", watched, restart("r", 1)},
			{"etcd", "etcd, all 3 members", "etcd", etcds, restart("e", 3)},
			{"zookeeper", "ZooKeeper, all 3 members", "zookeeper", keepers, restart("z", 3)},
		},
	},
	{
		id: "failover", rounds: 1, title: "A replica that is behind takes over",
		text: "The primary is lost, and a replica, which has its writes later by so much, takes its place: by an " +
			"operator at once, or by Sentinels after a second of silence. With WAIT a lock counts as granted when one of " +
			"three replicas has confirmed it; the others have been cut off for so long, and are those that are left. A " +
			"Redlock has no replicas.",
		column: "the replica is behind by",
		sizes:  []size{{"10ms", "10 ms"}, {"100ms", "0.1 s"}, {"1s", "1 s"}, {"3s", "3 s"}},
		rows: []row{
			{"operator", "primary and replica, by an operator", "single", replicated, promoted},
			{"sentinel", "primary and replica, Sentinels", "sentinel-single", behind, lost},
			{"wait", "primary and three replicas, Sentinels, WAIT 1, and the one that has confirmed is lost too",
				"broken/sentinel-wait", threefold, confirmedLost},
		},
	},
}
