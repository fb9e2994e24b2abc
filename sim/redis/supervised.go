package redis

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim/trace"
)

// This file is what others see of a server's replication: ROLE and INFO, for clients and for Sentinels, and what a
// Sentinel does to a server.

// Replication is what INFO tells of a server's part in replication.
type Replication struct {
	// RunID is the id of the process: it changes at each start.
	RunID string
	// Primary says that it takes writes. Otherwise it follows Leader.
	Primary bool
	Leader  *Server
	// LinkUp says that a replica is connected with its primary. Down is for how long it has not been.
	LinkUp bool
	Down   time.Duration
	// Offset is how many effects it has executed, or applied.
	Offset int64
	// Priority is the one by which a Sentinel chooses a replica.
	Priority int
	// Replicas are those that follow it.
	Replicas []*Server
}

// replicaPriority is the default of replica-priority in Redis.
const replicaPriority = 100

// Replication is the server's part in replication at present.
func (n *Server) Replication() Replication {
	r := Replication{RunID: n.runID, Primary: n.repl.leader == nil, Leader: n.repl.leader, Priority: replicaPriority}
	if n.ledger != nil && n.ledger.only == nil {
		r.Offset = n.ledger.offset
	}
	for _, f := range n.repl.followers {
		if f.live {
			r.Replicas = append(r.Replicas, f.to)
		}
	}
	slices.SortFunc(r.Replicas, func(a, b *Server) int { return strings.Compare(a.Name(), b.Name()) })
	if s := n.repl.source; s != nil {
		if r.LinkUp = s.copied; !r.LinkUp {
			r.Down = n.node.Virtual() - s.brokenAt
		}
	}
	return r
}

// Group is r0 and its replicas, in order. The caller owns the slice.
func (n *Server) Group() []*Server { return slices.Clone(n.family.group) }

// WhenEnds calls f when the server's process ends and its machine goes on, which resets the connections of its peers.
func (n *Server) WhenEnds(f func()) { n.ended = append(n.ended, f) }

// FollowNone is REPLICAOF NO ONE and CLIENT KILL, as a Sentinel sends them: the server becomes a primary with what it
// has, closes its clients' connections, and the name [Primary] leads to it from now on. by is the Sentinel.
func (n *Server) FollowNone(by string) {
	old := n.repl.leader
	if old == nil {
		return
	}
	n.replaces(old)
	n.takeOver(n.node.Record(by, trace.ReplicaOf{Was: old.Name(), Has: n.ledger.offset, Of: old.ledger.offset}))
	n.node.HangUp()
	n.family.primary.redirect(n, n.node.Processes(), nil)
}

// Follow is REPLICAOF and CLIENT KILL, as a Sentinel sends them: the server closes its clients' connections, and copies
// the keys of another. Writes that only it had are lost. by is the Sentinel.
func (n *Server) Follow(to *Server, by string) {
	if n.repl.leader == to || n == to {
		return
	}
	was := ""
	if n.repl.leader != nil {
		was = n.repl.leader.Name()
	}
	n.node.Record(by, trace.ReplicaOf{Primary: to.Name(), Was: was})
	n.node.HangUp()
	n.follow(to).resync()
}

// renewRunID gives the server's process its id.
func (n *Server) renewRunID() {
	if n.ids == nil {
		n.ids = n.node.Entropy("run id")
	}
	id := make([]byte, 20)
	_, _ = io.ReadFull(n.ids, id) // it cannot fail
	n.runID = hex.EncodeToString(id)
}

// cronPeriod is how often a replica tells its primary how far it is, and a primary looks which replicas have told it.
const cronPeriod = time.Second

// cronPhase is when in each period the server does so: a process begins at any moment.
func (n *Server) cronPhase() time.Duration {
	return time.Duration(n.node.Draw("replication cron").Num(0).Between(0, int64(cronPeriod)-1))
}

// replicationCron is what a replica does once a period. Only min-replicas-max-lag needs it.
func (n *Server) replicationCron() {
	if n.family.config.MinReplicas == 0 {
		return
	}
	next := cronPeriod - (n.node.Virtual()-n.cronPhase())%cronPeriod
	n.node.After((next-1)%cronPeriod+1, func() {
		n.node.WhenServing(func() {
			if s := n.repl.source; s != nil && s.copied {
				s.acknowledge()
			}
			n.replicationCron()
		})
	})
}

// lacksReplicas reports whether a primary has too few replicas that have answered lately, so that it refuses writes. It
// goes by the last look of its cron, and by whole seconds, as Redis does.
func (n *Server) lacksReplicas() bool {
	need := n.family.config.MinReplicas
	if need == 0 || n.repl.leader != nil || !slices.Contains(n.family.group, n) {
		return false
	}
	since := (n.node.Virtual() - n.cronPhase() + cronPeriod) % cronPeriod
	good, looked := 0, (n.node.Wall() - since).Truncate(time.Second)
	for _, f := range slices.Concat(n.repl.followers, n.repl.parted) {
		if f.live && looked-f.heard.Truncate(time.Second) <= n.family.config.MaxLag {
			good++
		}
	}
	return good < need
}

// part lets the primary notice that a replica has left it, which it does not while their link is cut: until then the
// replica counts as one that was heard lately.
func (r *replication) part() {
	n := r.from
	if n.family.config.MinReplicas == 0 || n.node.Down() {
		return
	}
	n.repl.parted = append(n.repl.parted, r)
	r.back.Send(func() {
		n.repl.parted = slices.DeleteFunc(n.repl.parted, func(x *replication) bool { return x == r })
	})
}

// noReplicasError is the answer to a write then.
const noReplicasError = "NOREPLICAS Not enough good replicas to write."

// hostPort is the address of a server, in two.
func hostPort(n *Server) (host, port string) {
	host, port, _ = net.SplitHostPort(n.node.Address())
	return host, port
}

func (n *Server) roleReply() []byte {
	r := n.Replication()
	bulk := func(b []byte, s string) []byte { return fmt.Appendf(b, "$%d\r\n%s\r\n", len(s), s) }
	if r.Primary {
		b := fmt.Appendf(nil, "*3\r\n$6\r\nmaster\r\n:%d\r\n*%d\r\n", r.Offset, len(r.Replicas))
		for _, f := range r.Replicas {
			host, port := hostPort(f)
			b = bulk(bulk(bulk(append(b, "*3\r\n"...), host), port), strconv.FormatInt(f.Replication().Offset, 10))
		}
		return b
	}
	host, port := hostPort(r.Leader)
	b := bulk([]byte("*5\r\n$5\r\nslave\r\n"), host)
	state := "connected"
	if !r.LinkUp {
		state = "connect"
	}
	return fmt.Appendf(bulk(fmt.Appendf(b, ":%s\r\n", port), state), ":%d\r\n", r.Offset)
}

func (n *Server) info() string {
	r := n.Replication()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("# Replication")
	if r.Primary {
		line("role:master")
	} else {
		host, port := hostPort(r.Leader)
		status, last := "up", 0
		if !r.LinkUp {
			status, last = "down", -1
		}
		line("role:slave\r\nmaster_host:%s\r\nmaster_port:%s\r\nmaster_link_status:%s\r\nmaster_last_io_seconds_ago:%d", host,
			port, status, last)
		line("master_sync_in_progress:0\r\nslave_read_repl_offset:%d\r\nslave_repl_offset:%d", r.Offset, r.Offset)
		if !r.LinkUp {
			line("master_link_down_since_seconds:%d", int64(r.Down/time.Second))
		}
		line("slave_priority:%d\r\nslave_read_only:1\r\nreplica_announced:1", r.Priority)
	}
	line("connected_slaves:%d", len(r.Replicas))
	if n.family.config.MinReplicas > 0 && r.Primary {
		line("min_slaves_good_slaves:%d", len(r.Replicas))
	}
	for i, f := range r.Replicas {
		host, port := hostPort(f)
		line("slave%d:ip=%s,port=%s,state=online,offset=%d,lag=0", i, host, port, f.Replication().Offset)
	}
	line("master_failover_state:no-failover\r\nmaster_replid:%s\r\nmaster_replid2:%040d", n.runID, 0)
	line("master_repl_offset:%d\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:%d", r.Offset, min(len(r.Replicas), 1))
	return b.String()
}
