package redis

import (
	"bufio"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"locksim/sim"
	"locksim/sim/trace"
)

// This file is what a server lends to package rediscluster: it asks its [Cluster] before it carries out a command, and
// lets it change the server's role, and read and write its keys.

// Cluster is what a server asks where it is a node of a Redis Cluster. Its methods are called on the world's goroutine.
type Cluster interface {
	// Answers reports whether a command is one of the cluster itself, such as CLUSTER or MIGRATE.
	Answers(args []string) bool
	// Command carries out such a command. Without a reply, [ClusterClient.Reply] has one later: not in a transaction.
	Command(c *ClusterClient, args []string) (reply []byte)
	// Holds reports whether a command has to wait until [Server.Release].
	Holds(c *ClusterClient, args []string) bool
	// Refuses is the error, without its "-", that a command gets in place of being carried out, "" for none. EXEC is
	// asked with the commands of the transaction.
	Refuses(c *ClusterClient, args []string) string
	// RefusesInScript is Refuses for a command that a script of the client calls.
	RefusesInScript(c *ClusterClient, args []string) string
	// Info is what INFO says of the cluster.
	Info() string
}

// ClusterClient is a client's connection to a node of a Redis Cluster.
type ClusterClient struct {
	// Asking is set by ASKING, for one command or one transaction. ReadOnly is set by READONLY.
	Asking, ReadOnly bool
	session          *session
}

// Queued are the commands of the client's transaction so far. Multi says that there is one.
func (c *ClusterClient) Queued() (commands [][]string, multi bool) {
	return c.session.queued, connStateOf(c.session.peer).inMulti
}

// RESP3 says that the client speaks it.
func (c *ClusterClient) RESP3() bool { return c.session.peer.Resp3 }

// Client is the name of the client.
func (c *ClusterClient) Client() string { return c.session.conn.Client() }

// Reply answers a command that had to wait, and goes on with those after it.
func (c *ClusterClient) Reply(reply []byte) {
	s := c.session
	if args := s.pending; args != nil && !s.closed {
		s.pending = nil
		s.server.tick()
		s.answer(args, reply)
		s.serve()
	}
}

// Shared is what the servers of one cluster share.
type Shared struct{ family *family }

// NewShared is what servers with that persistence, lag, and protected data share.
func NewShared(c Servers) *Shared {
	return &Shared{&family{config: c.withDefaults(), watched: map[string]bool{}}}
}

// NewMember makes a server that is a node of a cluster.
func NewMember(node *sim.Node, shared *Shared, c Cluster) *Server {
	n := newServer(node, shared.family)
	n.cluster = c
	n.ledger = newLedger(n)
	n.renewRunID()
	shared.family.all = append(shared.family.all, n)
	return n
}

// Begin makes a server a replica of another one, before anything has happened. Both are empty.
func (n *Server) Begin(replicaOf *Server) {
	r := n.follow(replicaOf)
	r.live, r.copied = true, true
}

// Leader is the server that it follows, nil for a primary.
func (n *Server) Leader() *Server { return n.repl.leader }

// Offset is how many effects it has executed, or applied.
func (n *Server) Offset() int64 { return n.ledger.offset }

// Lead makes a replica a primary with what it has. Its clients stay connected.
func (n *Server) Lead() {
	old := n.repl.leader
	if old == nil {
		return
	}
	n.replaces(old)
	n.takeOver(n.node.Record("", trace.ReplicaOf{Was: old.Name(), Has: n.ledger.offset, Of: old.ledger.offset}))
}

// CopyFrom makes a server a replica of another one. Its clients stay connected, and what only it had is lost.
func (n *Server) CopyFrom(to *Server) {
	if n.repl.leader == to || n == to {
		return
	}
	was := ""
	if n.repl.leader != nil {
		was = n.repl.leader.Name()
	}
	n.node.Record("", trace.ReplicaOf{Primary: to.Name(), Was: was})
	n.follow(to).resync()
}

// Has reports whether clients see a key of database 0.
func (n *Server) Has(key string) bool {
	if n.scripted {
		return n.data.seesInScript(key)
	}
	n.tick()
	return n.data.mini.DB(0).Exists(key)
}

// seesInScript reports whether a key is there, for a script, which has the lock of miniredis.
func (d *dataset) seesInScript(key string) bool {
	if d.nested == nil {
		d.nested = server.NewPeer(bufio.NewWriterSize(&d.nestedReply, 64))
	}
	d.nested.Ctx = renewNested(d.nested.Ctx)
	d.nestedReply.Reset()
	d.mini.Server().Dispatch(d.nested, []string{"EXISTS", key})
	d.nested.Flush()
	return d.nestedReply.String() == ":1\r\n"
}

// KeyNames are the names of the keys of database 0 that clients see, in order.
func (n *Server) KeyNames() []string {
	n.tick()
	return n.data.mini.DB(0).Keys()
}

// Moved is a key on its way from one server to another: its value, and the time that it has left.
type Moved struct {
	datum datum
	left  time.Duration // never for a key that does not expire
}

// Dump is a key of database 0 as it is moved. ok is false if there is none.
func (n *Server) Dump(key string) (m Moved, ok bool) {
	n.tick()
	d := n.data.read(dbKey{0, key})
	if !d.exists() {
		return Moved{}, false
	}
	left := never
	if d.until != never {
		left = d.until - n.data.shown
	}
	return Moved{d, left}, true
}

// Restore sets a key that was moved, for a client. Of a hash whose fields expire, they expire by this server's clock.
func (n *Server) Restore(key string, m Moved, client string) {
	n.tick()
	d := m.datum
	if d.until = never; m.left != never {
		d.until = n.data.shown + m.left
	}
	n.data.put(dbKey{0, key}, d)
	n.changedKeys(client, trace.Text("takes "+key), key)
}

// Drop deletes keys of database 0, for a client, or for the server itself.
func (n *Server) Drop(client, why string, keys ...string) {
	n.tick()
	for _, k := range keys {
		n.data.ask(0, "DEL", k)
	}
	n.changedKeys(client, trace.Text(why), keys...)
}

// changedKeys records and publishes what the server has done to keys.
func (n *Server) changedKeys(client string, what trace.Content, keys ...string) {
	step := n.node.Record(client, trace.Apply{Effects: what})
	for _, k := range keys {
		n.ledger.touched = append(n.ledger.touched, dbKey{0, k})
	}
	n.ledger.commit(origin{step: step, change: trace.KeyMoved}) // no client has asked for it
	n.blocked.wake()
}

// Release goes on with the commands that have waited: see [Cluster].
func (n *Server) Release() {
	for _, s := range slices.Clone(n.sessions) {
		if s.held {
			s.held = false
			s.serve()
		}
	}
}

// clustered lets the cluster answer, hold back or refuse a command, and reports whether it has.
func (s *session) clustered(args []string) (done bool) {
	n, c := s.server, &s.cluster
	if c.session == nil {
		c.session = s
	}
	state := connStateOf(s.peer)
	if !state.inMulti && !state.subscribed && n.cluster.Answers(args) {
		if reply := n.cluster.Command(c, args); reply != nil {
			s.answer(args, reply)
		} else {
			s.pending = args
			n.record(s, n.request(args), nil)
		}
		return true
	}
	problem := n.cluster.Refuses(c, args)
	if problem == "" {
		return false
	}
	s.replying = true
	switch {
	case state.inMulti && strings.EqualFold(args[0], "EXEC"):
		s.silently("DISCARD")
		s.queued = nil
	case state.inMulti:
		s.silently("GET") // an error that makes EXEC fail
	}
	s.replying = false
	s.reply.Reset()
	s.answer(args, []byte("-"+problem+"\r\n"))
	return true
}

// afterCommand ends what ASKING has allowed: it lasts for one command, or for a transaction.
func (s *session) afterCommand(args []string) {
	s.server.running = nil
	if !strings.EqualFold(args[0], "ASKING") && !connStateOf(s.peer).inMulti {
		s.cluster.Asking = false
	}
}

// ofCluster reports whether a command is one of the cluster itself.
func (s *session) ofCluster(args []string) bool {
	return s.server.cluster != nil && s.server.cluster.Answers(args)
}

// holds reports whether a command waits in its connection, and those after it.
func (s *session) holds(args []string) bool {
	if s.server.cluster == nil {
		return false
	}
	if s.cluster.session == nil {
		s.cluster.session = s
	}
	s.held = s.server.cluster.Holds(&s.cluster, args)
	return s.held
}

// refuseInScript refuses a command that a script calls for a key of another node, and reports whether it has.
func (n *Server) refuseInScript(c *server.Peer, command string, args []string) bool {
	s := n.running
	if n.cluster == nil || s == nil || c == s.peer || n.scripted {
		return false
	}
	n.scripted = true
	defer func() { n.scripted = false }()
	problem := n.cluster.RefusesInScript(&s.cluster, append([]string{command}, args...))
	if problem == "" {
		return false
	}
	c.WriteError(problem)
	return true
}
