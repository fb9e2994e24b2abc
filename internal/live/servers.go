//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"locksim/faults"
	"locksim/internal/live/guard"
	"locksim/internal/live/server"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/rediscluster"
	"locksim/sim/trace"
)

// starting is how long servers may take to serve.
const starting = time.Minute

// asking is how long a server may take to answer a question of the parent.
const asking = 2 * time.Second

// servers are the servers of one run.
type servers struct {
	groups []*server.Group
	links  []linked // of a replica to its primary, and between all servers that have a gate
}

// ticks is how many ticks of a ZooKeeper a lease has: it grants sessions of 2 to 20.
const ticks = 10

// wanted are the servers that a scenario and a lock need.
func wanted(sc *file.Scenario, l subject.Lock) []server.Options {
	var out []server.Options
	redis, needs := sc.World.Redis, l.Needs()
	watched := false
	for _, s := range needs {
		if s.Kind.Name == string(server.Redis) {
			redis = max(redis, s.Count)
			continue
		}
		o := server.Options{Kind: server.Kind(s.Kind.Name), Count: max(s.Count, sc.World.Count(s.Kind.Name)),
			Tick: sc.Lock.TTL / ticks, Other: other(s.Kind)}
		switch o.Kind {
		case server.Cluster:
			c, _ := inWorld(s.Kind, sc).Make(o.Count).(rediscluster.Servers)
			o.Shards, o.NodeTimeout, o.Key = c.Shards, c.NodeTimeout, c.Key
			o.Persistence, o.Snapshot = sc.World.Persistence, sc.World.Snapshot
		case server.Sentinel:
			watched = true
			o.Quorum, o.DownAfter, o.FailoverTimeout = sc.World.Quorum, sc.World.DownAfter, sc.World.FailoverTimeout
		}
		out = append(out, o)
	}
	if slices.ContainsFunc(needs, func(s subject.Servers) bool { return s.Kind.Name == string(server.Redis) }) {
		out = slices.Insert(out, 0, server.Options{Kind: server.Redis, Count: redis,
			Replicas: max(sc.World.Replicas, l.LeastReplicas()), Watched: watched,
			MinReplicas: sc.World.MinReplicas, MaxLag: sc.World.MaxLag,
			Persistence: sc.World.Persistence, Snapshot: sc.World.Snapshot})
	}
	for i := range out {
		out[i].Clock = setsServerClocks(sc)
	}
	return out
}

// inWorld is a kind with the settings of a scenario.
func inWorld(k subject.ServerKind, sc *file.Scenario) subject.ServerKind {
	if k.In == nil {
		return k
	}
	return k.In(sc.World)
}

// other is how to start servers of a kind that package server does not know; nil for those that it knows.
func other(k subject.ServerKind) *server.Other {
	if k.Real == nil {
		return nil
	}
	return &server.Other{Prefix: k.Prefix, Command: k.Real.Command, Ready: k.Real.Ready, Unsynced: k.Real.Unsynced,
		Pace: server.Pace{Lease: k.Real.Lease, Why: k.Real.Why, Return: k.Real.Return}}
}

// paceOf is how fast real servers of a kind are.
func paceOf(k subject.ServerKind) server.Pace {
	if o := other(k); o != nil {
		return o.Pace
	}
	return server.PaceOf(server.Kind(k.Name))
}

// setsServerClocks says that a fault is about the clock of a server.
func setsServerClocks(sc *file.Scenario) bool {
	return sc.World.Skew != 0 || slices.ContainsFunc(sc.Faults, func(f faults.Fault) bool {
		switch a := f.Action.(type) {
		case faults.ClockJump:
			return trace.IsServer(a.Clock)
		case faults.ClockDrift:
			return trace.IsServer(a.Clock)
		case faults.ClockFreeze:
			return trace.IsServer(a.Clock)
		}
		return false
	})
}

func (w *World) startServers(g *guard.Guard) error {
	ctx, cancel := context.WithTimeout(w.ctx, starting)
	defer cancel()
	for _, o := range wanted(w.scenario, w.lock) {
		o.Guard = g
		switch {
		case o.Watched, o.Kind == server.Cluster:
			o.Gate = w.openGate
		case o.Kind == server.Sentinel:
			o.Gate, o.Watches = w.openGate, w.servers.redis()
		case o.Replicas > 0:
			o.Via = w.replicate
		}
		group, err := server.Start(ctx, o)
		if err != nil {
			return err
		}
		w.servers.groups = append(w.servers.groups, group)
		w.trace.Servers = append(w.trace.Servers, described(o, group, w.lock)...)
	}
	w.trace.Servers = append(w.trace.Servers, trace.Server{Name: storeName, Kind: play.StoreKind, Role: trace.RoleStore})
	if len(w.gates) > 0 {
		if err := w.lagBehind(); err != nil {
			return err
		}
	}
	for _, s := range w.lock.Servers {
		if s.Kind.Prepare == nil {
			continue
		}
		for _, x := range w.servers.group(server.Kind(s.Kind.Name)).Servers() {
			if err := s.Kind.Prepare(ctx, x.Addr()); err != nil {
				return fmt.Errorf("prepare %s: %w", x.Name(), err)
			}
		}
	}
	return nil
}

func described(o server.Options, g *server.Group, l subject.Lock) trace.Servers {
	role := trace.RoleSingle
	for _, s := range l.Needs() {
		if server.Kind(s.Kind.Name) == o.Kind {
			role = s.Kind.Role()
		}
	}
	var out trace.Servers
	for i, x := range g.Servers() {
		is := trace.Server{Name: x.Name(), Kind: string(o.Kind), Role: role}
		if o.Count > o.Shards && o.Shards > 0 {
			is.Family, is.Role = g.Servers()[i%o.Shards].Name(), trace.RoleReplica
			if i < o.Shards {
				is.Role = trace.RolePrimary
			}
		}
		if o.Replicas > 0 && i <= o.Replicas { // the primary is the first, and its replicas follow
			is.Family, is.Role = g.Servers()[0].Name(), trace.RoleReplica
			if i == 0 {
				is.Role = trace.RolePrimary
			}
		}
		out = append(out, is)
	}
	return out
}

// replicate puts a proxy between a replica and its primary, which makes the replica lag.
func (w *World) replicate(replica, primary, addr string) (string, error) {
	p := toxiproxy.NewProxy(w.toxiproxy, replica+"-"+primary, loopback, addr)
	if err := p.Start(); err != nil {
		return "", fmt.Errorf("start the proxy between %s and %s: %w", replica, primary, err)
	}
	w.servers.links = append(w.servers.links, linked{proxy: p, client: replica, server: primary})
	if w.scenario.World.Lag.Max > 0 {
		if err := w.lagging(replica, primary).onto(p, replica, primary); err != nil {
			return "", err
		}
	}
	for _, t := range w.toxics { // after a failover there may be some
		if err := t.onto(p, replica, primary); err != nil {
			return "", err
		}
	}
	return p.Listen, nil
}

// close ends the servers and the proxies between them.
func (s *servers) close() error {
	var errs []error
	for _, g := range s.groups {
		errs = append(errs, g.Stop())
	}
	for _, l := range s.links {
		l.proxy.Stop()
	}
	return errors.Join(errs...)
}

func (s *servers) all() []*server.Server {
	var out []*server.Server
	for _, g := range s.groups {
		out = append(out, g.Servers()...)
	}
	return out
}

func (s *servers) find(name string) (*server.Server, error) {
	for _, x := range s.all() {
		if x.Name() == name {
			return x, nil
		}
	}
	return nil, fmt.Errorf("there is no server %q in this world", name)
}

// redis is the group of Redis servers, or nil.
func (s *servers) redis() *server.Group { return s.group(server.Redis) }

// cluster are the nodes of a Redis Cluster, or nil.
func (s *servers) cluster() *server.Group { return s.group(server.Cluster) }

// group is the group of the servers of a kind, or nil.
func (s *servers) group(kind server.Kind) *server.Group {
	for _, g := range s.groups {
		if g.Kind() == kind {
			return g
		}
	}
	return nil
}

// upstreams are the addresses of all servers.
func (w *World) upstreams() map[string]string {
	out := map[string]string{}
	for _, s := range w.servers.all() {
		out[s.Name()] = s.Addr()
	}
	return out
}

// primaryOf is the server to which the name primary leads for a client.
// That which Sentinels name is the same for all.
func (w *World) primaryOf(client string) string {
	if g := w.servers.sentinels(); g != nil {
		ctx, cancel := context.WithTimeout(w.ctx, asking)
		defer cancel()
		if s, err := g.Watched(ctx); err == nil {
			return s.Name()
		}
	}
	if to := w.told[client]; to != "" {
		return to
	}
	return "r0"
}

// isDown reports whether a server has crashed.
func (w *World) isDown(name string) bool {
	s, err := w.servers.find(name)
	return err == nil && s.Down()
}

func (s *servers) states(w *World) []play.ServerState {
	var out []play.ServerState
	primary, follows := "", map[string]string{}
	if g := s.cluster(); g != nil {
		ctx, cancel := context.WithTimeout(w.ctx, asking)
		follows = g.Follows(ctx)
		cancel()
	}
	if g := s.redis(); g != nil {
		primary = g.Primary().Name()
		if s.sentinels() != nil {
			primary = w.primaryOf("")
		}
	}
	for _, x := range s.all() {
		is, _ := w.trace.Servers.Find(x.Name())
		state := play.ServerState{Server: is, Asked: true, Down: x.Down()}
		if w.hasKeys(x.Name()) {
			switch {
			case is.Kind == string(server.Cluster):
				state.Follows = follows[x.Name()]
				state.Asked = is.Family == "" || state.Follows == "primary"
			case is.Family != "":
				state.Asked = x.Name() == primary
				if state.Follows = "replica of " + primary; state.Asked {
					state.Follows = "primary"
				}
			}
			ctx, cancel := context.WithTimeout(w.ctx, asking)
			keys, err := x.Keys(ctx)
			cancel()
			state.Listed = err == nil
			for _, k := range keys {
				state.Keys = append(state.Keys, trace.Key{Name: k.Name, Value: k.Value, TTL: k.TTL})
			}
		}
		out = append(out, state)
	}
	return out
}
