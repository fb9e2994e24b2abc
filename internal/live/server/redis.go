package server

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/lock/locktest/redisserver"
	"locksim/scenarios/file"
)

func missingRedis() error {
	_, err := redisserver.Find()
	return err
}

// startRedis starts Redis servers, and makes r0's replicas follow it.
func (g *Group) startRedis(ctx context.Context) error {
	names := []string{"r0"}
	for i := range g.options.Replicas {
		names = append(names, "r0"+string(rune('a'+i)))
	}
	names = append(names, file.Numbered("r", g.options.Count)[1:]...)
	ports, err := addresses(len(names))
	if err != nil {
		return err
	}
	for i, name := range names {
		s, err := g.add(name, ports[i])
		if err == nil {
			err = g.open(s)
		}
		if err != nil {
			return err
		}
		if g.options.Watched {
			if err := s.writeConfig(s.settings()); err != nil {
				return err
			}
		}
		s.engine = &process{dir: s.dir, env: s.clock.env(trueMonotonic), command: s.redis, ready: s.answers}
		s.admin = redis.NewClient(s.client())
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	g.primary = g.servers[0]
	for _, s := range g.family()[1:] {
		if err := s.follow(ctx, g.primary); err != nil {
			return err
		}
		// one after the other: Redis copies to one at a time, and pauses for a second in between
		if err := s.inSync(ctx); err != nil {
			return err
		}
	}
	if g.options.Replicas == 0 {
		return nil
	}
	return g.streams(ctx)
}

// client are the options of a client of the parent.
func (s *Server) client() *redis.Options {
	return &redis.Options{Addr: s.addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		ContextTimeoutEnabled: true}
}

// acknowledged is how long a primary may keep what it writes from a replica that is in sync: until the replica's first
// acknowledgement, and it sends one a second.
const acknowledged = 1100 * time.Millisecond

// streams waits until the primary sends its replicas what it writes. It writes, and waits until all have that. A link
// that lags keeps it for longer than the replica's acknowledgement takes, which does not lag.
func (g *Group) streams(ctx context.Context) error {
	const key = "locksim:in-sync"
	if err := errors.Join(g.primary.ask(ctx, "set", key, ""), g.primary.ask(ctx, "del", key)); err != nil {
		return err
	}
	all, err := g.primary.Replication(ctx)
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < acknowledged; {
		behind := slices.ContainsFunc(g.family()[1:], func(s *Server) bool {
			r, err := s.Replication(ctx)
			return err != nil || r.Offset < all.Offset
		})
		if !behind {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replicas of %s have not what it wrote: %w", g.primary.name, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// family is r0 and its replicas.
func (g *Group) family() []*Server { return g.servers[:1+g.options.Replicas] }

// redis is the command of a Redis. Of one that Sentinels watch, it reads what they have made of its settings.
func (s *Server) redis() *exec.Cmd {
	path, _ := redisserver.Find() // it was found before
	if s.group.options.Watched {
		return exec.Command(path, s.config())
	}
	var args []string
	for _, line := range s.settings() {
		args = append(append(args, "--"+line[0]), line[1:]...)
	}
	return exec.Command(path, args...)
}

// settings are those of a Redis, each with its values. The limits of replication are such that a link that is held for
// long is not closed.
func (s *Server) settings() [][]string {
	o := s.group.options
	host, port, _ := strings.Cut(s.addr, ":")
	lines := [][]string{
		{"port", port}, {"bind", host}, {"dir", s.dir}, {"daemonize", "no"}, {"appendonly", "no"}, {"save", ""},
		{"repl-diskless-sync", "yes"}, {"repl-diskless-sync-delay", "0"}, {"repl-timeout", "86400"},
	}
	switch o.Persistence {
	case file.PersistRDB:
		lines = append(lines, []string{"save", fmt.Sprint(int(o.Snapshot / time.Second)), "1"})
	case file.PersistEverysec, file.PersistAlways:
		lines = append(lines, []string{"appendonly", "yes"}, []string{"appendfsync", string(o.Persistence)},
			[]string{"auto-aof-rewrite-percentage", "0"})
	}
	if o.MinReplicas > 0 {
		lines = append(lines, []string{"min-replicas-to-write", fmt.Sprint(o.MinReplicas)},
			[]string{"min-replicas-max-lag", fmt.Sprint(int(o.MaxLag / time.Second))})
	}
	if o.Gate != nil {
		host, port, _ := strings.Cut(s.gate.Addr, ":")
		lines = append(lines, []string{"replica-announce-ip", host}, []string{"replica-announce-port", port},
			[]string{"bind-source-addr", s.gate.Source})
	}
	if o.Kind == Cluster {
		lines = append(lines, s.clusterSettings()...)
	}
	if s.leader != "" {
		host, port, _ := strings.Cut(s.leader, ":")
		lines = append(lines, []string{"replicaof", host, port})
	}
	return lines
}

// answers asks whether this process serves, and not another program that has taken the port.
func (s *Server) answers(pid int) error {
	switch is, err := redisserver.Ask(s.addr); {
	case err != nil:
		return err
	case is != pid:
		return fmt.Errorf("process %d has its port", is)
	}
	return nil
}

// follow makes a Redis a replica of another: now, or after its restart if it is down. The caller holds the group's
// mutex.
func (s *Server) follow(ctx context.Context, primary *Server) error {
	addr, err := s.group.link(s, primary)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.leader = addr
	waits := s.up == down
	s.mu.Unlock()
	if waits {
		return nil
	}
	host, port, _ := strings.Cut(addr, ":")
	return errors.Join(s.ask(ctx, "replicaof", host, port), s.keepConfig(ctx))
}

// keepConfig makes a Redis that Sentinels watch write its role to its settings, as they make it do.
func (s *Server) keepConfig(ctx context.Context) error {
	if !s.group.options.Watched {
		return nil
	}
	return s.ask(ctx, "config", "rewrite")
}

// lead makes a replica a primary.
func (s *Server) lead(ctx context.Context) error {
	if err := errors.Join(s.ask(ctx, "replicaof", "no", "one"), s.keepConfig(ctx)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = ""
	return nil
}

// link is the address by which a replica reaches a primary.
func (g *Group) link(replica, primary *Server) (string, error) {
	if g.options.Via == nil {
		return primary.gate.Addr, nil
	}
	pair := replica.name + " " + primary.name
	if g.links[pair] == "" {
		addr, err := g.options.Via(replica.name, primary.name, primary.addr)
		if err != nil {
			return "", fmt.Errorf("a link from %s to %s: %w", replica.name, primary.name, err)
		}
		g.links[pair] = addr
	}
	return g.links[pair], nil
}

// inSync waits until a replica has all that its primary had when it began to follow it.
func (s *Server) inSync(ctx context.Context) error {
	for {
		r, err := s.Replication(ctx)
		if err == nil && r.InSync {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not in sync with its primary: %w", s.name, errors.Join(ctx.Err(), err))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// isReplica reports whether a Redis follows another, or will after its restart. One that a failover has left serving
// does not. If Sentinels watch it, or it is a node of a cluster, it is asked.
func (s *Server) isReplica(ctx context.Context) bool {
	if s.group.options.Watched || s.Kind() == Cluster {
		r, err := s.Replication(ctx)
		return err == nil && !r.Primary
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leader != ""
}

// ask sends a command to a Redis, and wants no other answer than success.
func (s *Server) ask(ctx context.Context, args ...any) error {
	if s.admin == nil {
		return s.unable("it is no Redis")
	}
	if err := s.admin.Do(ctx, args...).Err(); err != nil {
		return fmt.Errorf("%s: %v: %w", s.name, args[0], err)
	}
	return nil
}

// losesNothing returns an error if files would survive a crash that a real one loses.
func (s *Server) losesNothing(mode faults.CrashMode) error {
	if o := s.group.options.Other; o != nil && o.Unsynced != "" && mode == faults.CrashPower {
		return s.unable(o.Unsynced)
	}
	if mode == faults.CrashPower && s.admin != nil && s.group.options.Persistence == file.PersistEverysec {
		return s.unable("a process that is killed leaves its last second of writes to the operating system, which a power " +
			"failure would lose")
	}
	return nil
}

// Replication is the part of a Redis in replication.
type Replication struct {
	// Primary says that it takes writes.
	Primary bool
	// InSync says that it is connected to its primary and has its copy. What was written since may be under way.
	InSync bool
	// Offset counts the bytes of the stream of writes that it has sent as a primary, or processed as a replica.
	Offset int64
}

// Replication asks a Redis for its part in replication. It fails while the server is down or stalled.
func (s *Server) Replication(ctx context.Context) (r Replication, err error) {
	if s.admin == nil {
		return r, s.unable("it is no Redis")
	}
	text, err := s.admin.Info(ctx, "replication").Result()
	if err != nil {
		return r, fmt.Errorf("%s: info: %w", s.name, err)
	}
	var own, sent int64
	for line := range strings.Lines(text) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "role":
			r.Primary = value == "master"
		case "master_link_status":
			r.InSync = value == "up"
		case "slave_repl_offset":
			_, err = fmt.Sscan(value, &own)
		case "master_repl_offset":
			_, err = fmt.Sscan(value, &sent)
		}
		if err != nil {
			return r, fmt.Errorf("%s: info: %w", s.name, err)
		}
	}
	r.Offset = own
	if r.Primary {
		r.Offset = sent
	}
	return r, nil
}

// Primary is the primary of r0 and its replicas: r0, or the one that was promoted last.
func (g *Group) Primary() *Server {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.primary
}

// Promotion is what a failover has done.
type Promotion struct {
	// Old is the former primary.
	Old string
	// Has is how many bytes of the stream of writes the new primary had, Of how many the former one had. Of is 0 if the
	// former one did not answer.
	Has, Of int64
}

// Promote makes a replica the primary, with what it has by now: what is under way to it is lost. The former primary is
// killed if it is to be fenced, and a replica of the new one after its restart; or it goes on; or it closes its
// clients' connections and becomes a replica of the new one. Other replicas follow the new primary. Who is told of the
// new primary is the caller's part. It is an error if the replica is down, stalled, or the primary already.
func (g *Group) Promote(ctx context.Context, f faults.Failover) (p Promotion, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	to, old := g.Server(f.To), g.primary
	if to == nil || !slices.Contains(g.family(), to) {
		return p, fmt.Errorf("promote %s: it is no replica of r0", f.To)
	}
	if to == old {
		return p, fmt.Errorf("promote %s: it is the primary", f.To)
	}
	p.Old = old.name
	asked, end := context.WithTimeout(ctx, 100*time.Millisecond) // it may be down or stalled
	if r, err := old.Replication(asked); err == nil {
		p.Of = r.Offset
	}
	end()
	if err := to.lead(ctx); err != nil {
		return p, fmt.Errorf("promote: %w", err)
	}
	g.primary = to
	r, err := to.Replication(ctx)
	p.Has = r.Offset
	switch f.Old {
	case faults.OldServing:
	case faults.OldDemoted:
		err = errors.Join(err, old.follow(ctx, to))
		if !old.Down() {
			err = errors.Join(err, old.ask(ctx, "client", "kill", "type", "normal", "skipme", "yes"))
		}
	default:
		err = errors.Join(err, old.Crash(faults.CrashProcess), old.follow(ctx, to))
	}
	for _, s := range g.family() {
		if s != to && s != old && s.isReplica(ctx) {
			err = errors.Join(err, s.follow(ctx, to))
		}
	}
	return p, err
}
