package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"locksim/internal/live/guard"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// Kind is a kind of server, by its name in scenario files.
type Kind string

// The kinds.
const (
	Redis     Kind = "redis" // or Valkey
	Sentinel  Kind = "sentinel"
	Cluster   Kind = "cluster" // of Redis
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "zookeeper"
	Postgres  Kind = "postgres"
	MariaDB   Kind = "mariadb"
)

// Options say which servers to start.
type Options struct {
	// Kind is what they are.
	Kind Kind
	// Count is how many there are: r0, r1, … are servers of their own, sen0, sen1, … watch r0, rc0, rc1, …, e0, e1, … and
	// z0, z1, … are one cluster. There can be one PostgreSQL, and one MariaDB. 0 means 1.
	Count int
	// Replicas is how many replicas r0 has: r0a, r0b, … Only for Redis.
	Replicas int
	// Persistence is what a Redis keeps over a crash. Empty means [file.PersistNone].
	Persistence file.Persistence
	// Snapshot is the time between two snapshots with [file.PersistRDB], in whole seconds, since Redis counts no finer.
	Snapshot time.Duration
	// Via gives the address at which a replica reaches its primary, which listens on addr. It is for a proxy that holds or
	// delays the replication. It is called once for each pair, before the replica follows the primary for the first time.
	// Nil means directly.
	Via func(replica, primary, addr string) (string, error)
	// Watched says that Sentinels will watch r0 and its replicas. Each then keeps its role over a restart as they have set
	// it. Only for Redis.
	Watched bool
	// MinReplicas and MaxLag are min-replicas-to-write and min-replicas-max-lag, in whole seconds, of a Redis. 0 replicas
	// means that it takes all writes.
	MinReplicas int
	MaxLag      time.Duration
	// Gate gives the way by which other servers reach a server that listens on addr, and for its bus on another address,
	// "" for a server without one, for proxies between all of them. It is called once for each server, before it starts.
	// Nil means directly. Only for Redis without Via, Sentinels, and Redis Cluster.
	Gate func(name, addr, bus string) (Gate, error)
	// Shards is how many of the nodes of a Redis Cluster are primaries at the start, NodeTimeout its cluster-node-timeout,
	// in whole milliseconds, and Key the key whose slot [Group.Leader] and [Server.TakeSlot] mean. Only for Redis Cluster.
	Shards      int
	NodeTimeout time.Duration
	Key         string
	// Watches are the servers whose r0 Sentinels watch. Quorum, DownAfter and FailoverTimeout are their settings; 0 means
	// a majority, and what Redis has by default. Only for Sentinels.
	Watches                    *Group
	Quorum                     int
	DownAfter, FailoverTimeout time.Duration
	// Tick is the tickTime of ZooKeeper: sessions last for 2 to 20 ticks. 0 means 200 ms.
	Tick time.Duration
	// Clock gives each server clocks of its own, if a C compiler is installed: see [Server.JumpClock].
	Clock bool
	// Sync lets etcd, ZooKeeper and the databases sync their files before they answer, as they do by default. Without it
	// they do not: a process that is killed leaves its files to the operating system. A Redis goes by Persistence.
	Sync bool
	// Other is how to start servers of a kind that is none of this package. Nil is for those.
	Other *Other
	// Guard ends the servers however the program ends. Nil means one of their own.
	Guard *guard.Guard
}

// Group is the servers of one kind. Its methods are safe for concurrent use.
type Group struct {
	options  Options
	dir      string
	guard    *guard.Guard
	ownGuard bool
	servers  []*Server

	mu      sync.Mutex
	primary *Server           // of r0 and its replicas
	links   map[string]string // the addresses of Options.Via, by "replica primary"
	hears   func(s *Server, what trace.What)
}

// Starts reports whether locksim starts servers of a kind, where they are installed.
func Starts(kind Kind) bool {
	_, ok := kinds[kind]
	return ok
}

// Missing returns an error of one line if there are no servers of a kind here: what is missing, and which package of
// Debian has it.
func Missing(kind Kind) error {
	k, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("locksim starts no servers of kind %q", kind)
	}
	return k.missing()
}

// Kind is the kind of the servers.
func (g *Group) Kind() Kind { return g.options.Kind }

// Missing is [Missing] of the kind, nil for another one.
func (o Options) Missing() error {
	if o.Other != nil {
		return nil
	}
	return Missing(o.Kind)
}

// Pace is how fast the servers of a kind are, as measured on a machine that had other work to do.
type Pace struct {
	// Lease is the shortest lease that a client can use. Why says what a shorter one lacks, as the end of a sentence.
	Lease time.Duration
	Why   string
	// Return is how long a server that has crashed needs, from its start on, until it serves clients again. It is that of
	// all members of a cluster, which elect a leader first.
	Return time.Duration
	// Own says that the servers do what a scenario waits for at intervals of their own, which no setting makes shorter.
	Own bool
}

// PaceOf is the pace of a kind; the zero value for a kind that locksim does not start.
func PaceOf(kind Kind) Pace { return kinds[kind].pace }

// kinds are the kinds of servers.
var kinds = map[Kind]struct {
	missing func() error
	start   func(*Group, context.Context) error
	pace    Pace
	// leads asks a server whether it leads its cluster, and in which term; nil for servers without a leader.
	leads func(context.Context, *Server) (leads bool, term uint64, err error)
}{
	Redis: {missingRedis, (*Group).startRedis,
		Pace{100 * time.Millisecond, "its clients would not hear of the grant in time", 20 * time.Millisecond, false}, nil},
	Sentinel: {missingRedis, (*Group).startSentinels,
		Pace{Own: true,
			Why: "Sentinels ask, vote and follow at intervals of their own, which no setting makes shorter"}, nil},
	Cluster: {missingRedis, (*Group).startCluster,
		Pace{Own: true, Return: 20 * time.Millisecond,
			Why: "the nodes of a Redis Cluster vote and wait at intervals of their own, which no setting makes shorter"}, nil},
	Etcd: {missingEtcd, (*Group).startEtcd,
		Pace{2 * time.Second, "a lease of etcd lasts for whole seconds, and the lock asks for two at least",
			time.Second, false}, etcdLeads},
	ZooKeeper: {missingZooKeeper, (*Group).startZooKeeper,
		Pace{4 * time.Second, "the lock asks ZooKeeper for no shorter session",
			1500 * time.Millisecond, false}, zooKeeperLeads},
	// A connection takes 30 to 60 ms: PostgreSQL starts a process for it.
	Postgres: {missingPostgres, (*Group).startPostgres,
		Pace{500 * time.Millisecond, "a client of PostgreSQL would have spent its lease on the connection",
			300 * time.Millisecond, false}, nil},
	MariaDB: {missingMariaDB, (*Group).startMariaDB,
		Pace{2 * time.Second, "MariaDB counts idle times in whole seconds, and a connection takes a while",
			500 * time.Millisecond, false}, nil},
}

// attempts is how often servers are started on other ports if one of them does not start: another program may have
// taken its port.
const attempts = 3

// Start starts servers, and returns when all of them serve and all replicas are in sync. The error is that of
// [Missing], or has the output of the server that does not start. The context limits the start only.
func Start(ctx context.Context, o Options) (g *Group, err error) {
	if err := o.Missing(); err != nil {
		return nil, err
	}
	o.Count, o.Tick = max(o.Count, 1), cmp.Or(o.Tick, 200*time.Millisecond)
	if err := o.validate(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		g, err := start(ctx, o)
		if err == nil || try == attempts || !errors.Is(err, errExited) {
			return g, err
		}
	}
}

// validate checks what servers of the kind do not have.
func (o Options) validate() error {
	switch {
	case o.Kind != Redis && (o.Replicas != 0 || o.Via != nil):
		return fmt.Errorf("start %s: only Redis has replicas", o.Kind)
	case (o.Kind == Cluster) != (o.Shards != 0) || o.Kind == Cluster && (o.Count < o.Shards || o.NodeTimeout == 0):
		return fmt.Errorf("start %s: a Redis Cluster, and no other, has shards, and a node timeout", o.Kind)
	case (o.Kind == Sentinel) != (o.Watches != nil):
		return fmt.Errorf("start %s: Sentinels, and no others, watch servers", o.Kind)
	case (o.Kind == Postgres || o.Kind == MariaDB) && o.Count != 1:
		return fmt.Errorf("start %s: there can be one server, not %d", o.Kind, o.Count)
	case o.Persistence == file.PersistRDB && (o.Snapshot < time.Second || o.Snapshot%time.Second != 0):
		return fmt.Errorf("start %s: a snapshot every %v: Redis takes whole seconds, from 1s", o.Kind, o.Snapshot)
	}
	return nil
}

func start(ctx context.Context, o Options) (g *Group, err error) {
	g = &Group{options: o, guard: o.Guard, links: map[string]string{}}
	if g.guard == nil {
		if g.guard, err = guard.Start("locksim-live-"); err != nil {
			return nil, err
		}
		g.ownGuard = true
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Stop())
			g = nil
		}
	}()
	if g.dir, err = os.MkdirTemp(g.guard.Dir(), string(o.Kind)+"-"); err != nil {
		return g, err
	}
	if err := os.Chmod(g.dir, 0o711); err != nil {
		return g, err
	}
	if o.Other != nil {
		return g, g.startOther(ctx)
	}
	return g, kinds[o.Kind].start(g, ctx)
}

// add makes a server that does not run yet, with a private folder. The caller gives it an engine.
func (g *Group) add(name, addr string) (*Server, error) {
	s := &Server{name: name, addr: addr, dir: filepath.Join(g.dir, name), group: g, engine: new(process), up: down}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := guard.Own(s.dir); err != nil {
		return nil, err
	}
	if g.options.Clock && g.options.Kind != Etcd && g.options.Other == nil {
		var err error
		if s.clock, err = newClock(g.guard.Dir(), s.dir); err != nil {
			return nil, err
		}
	}
	g.servers = append(g.servers, s)
	return s, nil
}

// serve waits until all servers do what a question asks for.
func (g *Group) serve(ctx context.Context, ask func(context.Context, *Server) error) error {
	for _, s := range g.servers {
		for {
			err := ask(ctx, s)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("start %s: it does not serve: %w (%w); it printed:\n%s", s.name, ctx.Err(), err, s.Output())
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return nil
}

// Servers are the servers in order: r0, r0a, r0b, r1, … The caller owns the slice.
func (g *Group) Servers() []*Server { return append([]*Server(nil), g.servers...) }

// Server is the server of a name, or nil.
func (g *Group) Server(name string) *Server {
	for _, s := range g.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// Leader asks the members of a cluster which of them leads, until one says so, or ctx ends. Of two that say so, one has
// not heard of a later term yet. A single server leads itself. In a Redis Cluster it is the node that has the slot of
// the key, whether it runs or not.
func (g *Group) Leader(ctx context.Context) (*Server, error) {
	if g.options.Kind == Cluster {
		return g.owner(ctx)
	}
	ask := kinds[g.options.Kind].leads
	if ask == nil {
		return nil, fmt.Errorf("servers of kind %s have no leader", g.options.Kind)
	}
	for {
		var leader *Server
		var latest uint64
		var errs []error
		for _, s := range g.servers {
			if !s.running() {
				continue
			}
			leads, term, err := ask(ctx, s)
			if errs = append(errs, err); leads && (leader == nil || term > latest) {
				leader, latest = s, term
			}
		}
		if leader != nil {
			return leader, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(append(errs, fmt.Errorf("no %s server leads: %w", g.options.Kind, ctx.Err()))...)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop ends the servers, also those that are stalled, and removes what they have left.
func (g *Group) Stop() (err error) {
	if g.dir != "" {
		err = guard.Kill(g.dir)
	}
	for _, s := range g.servers {
		err = errors.Join(err, s.close())
	}
	if g.ownGuard {
		return errors.Join(err, g.guard.End())
	}
	return errors.Join(err, os.RemoveAll(g.dir))
}

// addresses are addresses of the loopback interface on which nothing listens.
func addresses(count int) (all []string, err error) {
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() //nolint:errcheck // it has served its purpose
		all = append(all, l.Addr().String())
	}
	return all, nil
}
