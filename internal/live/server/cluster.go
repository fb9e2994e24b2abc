package server

import (
	"context"
	"crypto/sha1" //nolint:gosec // an id, no secret
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/guard"
	"locksim/scenarios/file"
	"locksim/sim/rediscluster"
)

// nodesFile is where a node of a Redis Cluster has what it knows of the others. It writes to it, and a restart reads
// what it wrote.
const nodesFile = "nodes.conf"

// startCluster starts the nodes of a Redis Cluster that know each other, as those that have run for a while: rc0, rc1,
// … The primaries are the first, as in the simulated world.
func (g *Group) startCluster(ctx context.Context) error {
	names := file.Numbered(rediscluster.Prefix, g.options.Count)
	ports, err := lowAddresses(2 * len(names))
	if err != nil {
		return err
	}
	for i, name := range names {
		s, err := g.add(name, ports[2*i])
		if err != nil {
			return err
		}
		s.bus = ports[2*i+1]
		if err := g.open(s); err != nil {
			return err
		}
		s.id = fmt.Sprintf("%x", sha1.Sum([]byte(s.dir))) //nolint:gosec // an id, no secret
		if shard := i % g.options.Shards; shard != i {
			s.primary = names[shard]
		}
		s.engine = &process{dir: s.dir, env: s.clock.env(trueMonotonic), command: s.redis, ready: s.answers, heard: s.hear}
		o := s.client()
		o.OnConnect = func(ctx context.Context, c *redis.Conn) error { return c.ReadOnly(ctx).Err() } // a replica answers too
		s.admin = redis.NewClient(o)
	}
	for _, s := range g.servers {
		path := filepath.Join(s.dir, nodesFile)
		if err := os.WriteFile(path, []byte(g.nodesOf(s)), 0o600); err != nil {
			return err
		}
		if err := errors.Join(guard.Own(path), s.Restart(ctx)); err != nil {
			return err
		}
	}
	// A replica that has got nothing yet is not in the maps of clients.
	for i, s := range g.servers[:g.options.Shards] {
		if err := g.serve(ctx, func(ctx context.Context, _ *Server) error {
			key := keyBetween(g.slots(i))
			return errors.Join(s.ask(ctx, "set", key, ""), s.ask(ctx, "del", key))
		}); err != nil {
			return err
		}
	}
	return g.serve(ctx, isMember)
}

// lowAddresses are addresses on which nothing listens, with ports that the system gives no one who does not ask for
// them: between the choice and the start of a node there are a hundred proxies to be opened.
func lowAddresses(count int) (all []string, err error) {
	const least, tries = 10_000, 10_000
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil, err
	}
	first := 0
	if _, err := fmt.Sscan(string(text), &first); err != nil || first-least < tries {
		return addresses(count)
	}
	for range tries {
		if len(all) == count {
			return all, nil
		}
		addr := fmt.Sprint("127.0.0.1:", least+rand.IntN(first-least))
		if l, err := net.Listen("tcp", addr); err == nil && !slices.Contains(all, addr) {
			defer l.Close() //nolint:errcheck // it has served its purpose
			all = append(all, addr)
		}
	}
	return nil, errors.New("find a free port: too many are taken")
}

// slots are the first and the last slot of a primary at the start.
func (g *Group) slots(shard int) (first, last int) {
	n := g.options.Shards
	at := func(i int) int { return (i*rediscluster.Slots + n/2) / n }
	return at(shard), at(shard+1) - 1
}

// keyBetween is a key whose slot is one of these.
func keyBetween(first, last int) string {
	for i := 0; ; i++ {
		key := fmt.Sprint("locksim:", i)
		if slot := rediscluster.Slot(key); first <= slot && slot <= last {
			return key
		}
	}
}

// nodesOf is what a node knows of the cluster when it starts for the first time.
func (g *Group) nodesOf(s *Server) string {
	var b strings.Builder
	for i, n := range g.servers {
		host, port, _ := net.SplitHostPort(n.gate.Addr)
		_, bus, _ := net.SplitHostPort(n.gate.Bus)
		shard := i % g.options.Shards
		flags, primary, slots := "slave", g.servers[shard].id, ""
		if i == shard {
			first, last := g.slots(shard)
			flags, primary, slots = "master", "-", fmt.Sprintf(" %d-%d", first, last)
		}
		if n == s {
			flags = "myself," + flags
		}
		fmt.Fprintf(&b, "%s %s:%s@%s %s %s 0 0 %d connected%s\n", n.id, host, port, bus, flags, primary, shard+1, slots)
	}
	fmt.Fprintf(&b, "vars currentEpoch %d lastVoteEpoch 0\n", len(g.servers))
	return b.String()
}

// clusterSettings are those of a node beside those of every Redis.
func (s *Server) clusterSettings() [][]string {
	_, bus, _ := net.SplitHostPort(s.bus)
	lines := [][]string{
		{"cluster-enabled", "yes"}, {"cluster-config-file", nodesFile}, {"cluster-port", bus},
		{"cluster-node-timeout", strconv.FormatInt(s.group.options.NodeTimeout.Milliseconds(), 10)},
	}
	if s.group.options.Gate != nil {
		host, port, _ := net.SplitHostPort(s.gate.Addr)
		_, told, _ := net.SplitHostPort(s.gate.Bus)
		lines = append(lines, []string{"cluster-announce-ip", host}, []string{"cluster-announce-port", port},
			[]string{"cluster-announce-bus-port", told})
	}
	return lines
}

// isMember asks a node whether it serves, is in sync with its primary, and tells clients of all nodes.
func isMember(ctx context.Context, s *Server) error {
	info, err := s.admin.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, "cluster_state:ok") {
		return errors.New("it calls the cluster down")
	}
	r, err := s.Replication(ctx)
	if err != nil {
		return err
	}
	if !r.Primary && !r.InSync {
		return errors.New("it is not in sync with its primary")
	}
	ranges, err := s.admin.ClusterSlots(ctx).Result() //nolint:staticcheck // as most clients ask
	if err != nil {
		return err
	}
	known := 0
	for _, r := range ranges {
		known += len(r.Nodes)
	}
	if known != len(s.group.servers) {
		return fmt.Errorf("it tells clients of %d nodes", known)
	}
	return nil
}

// member is what one node says of another, or of itself, in CLUSTER NODES.
type member struct {
	of      *Server
	itself  bool
	primary *Server // whose replica it is, nil for a primary
	epoch   uint64  // of its slots, as the node that was asked knows it
	slots   [][2]int
}

// has reports whether a slot is that of the node.
func (m member) has(slot int) bool {
	return slices.ContainsFunc(m.slots, func(r [2]int) bool { return r[0] <= slot && slot <= r[1] })
}

// members asks a node what it knows.
func (s *Server) members(ctx context.Context) (all []member, err error) {
	text, err := s.admin.ClusterNodes(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("%s: cluster nodes: %w", s.name, err)
	}
	for line := range strings.Lines(text) {
		const least = 8 // fields; slots follow
		f := strings.Fields(line)
		if len(f) < least {
			return nil, fmt.Errorf("%s: cluster nodes: %q", s.name, line)
		}
		m := member{of: s.group.byID(f[0]), itself: strings.Contains(f[2], "myself"), primary: s.group.byID(f[3])}
		if m.of == nil {
			continue
		}
		if m.epoch, err = strconv.ParseUint(f[6], 10, 64); err != nil {
			return nil, fmt.Errorf("%s: cluster nodes: %w", s.name, err)
		}
		for _, r := range f[least:] {
			if strings.HasPrefix(r, "[") { // it is being moved
				continue
			}
			first, last, two := strings.Cut(r, "-")
			if !two {
				last = first
			}
			a, errA := strconv.Atoi(first)
			b, errB := strconv.Atoi(last)
			if err := errors.Join(errA, errB); err != nil {
				return nil, fmt.Errorf("%s: cluster nodes: %w", s.name, err)
			}
			m.slots = append(m.slots, [2]int{a, b})
		}
		all = append(all, m)
	}
	return all, nil
}

// byID is the node with that id, or nil.
func (g *Group) byID(id string) *Server {
	i := slices.IndexFunc(g.servers, func(s *Server) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	return g.servers[i]
}

// owner is the node that has the slot of the key by the greatest epoch that any node knows, whether it runs or not.
func (g *Group) owner(ctx context.Context) (best *Server, err error) {
	slot, epoch := rediscluster.Slot(g.options.Key), uint64(0)
	var errs []error
	for _, s := range g.servers {
		if !s.running() {
			continue
		}
		all, err := s.members(ctx)
		errs = append(errs, err)
		for _, m := range all {
			if m.has(slot) && (best == nil || m.epoch > epoch) {
				best, epoch = m.of, m.epoch
			}
		}
	}
	if best == nil {
		return nil, errors.Join(append(errs, fmt.Errorf("no node knows who has the slot %d", slot))...)
	}
	return best, nil
}

// Follows is what the nodes of a Redis Cluster do: "primary", or "replica of rc0", by name. A node that runs says it
// itself, and others say it of one that does not.
func (g *Group) Follows(ctx context.Context) map[string]string {
	out := map[string]string{}
	for _, s := range g.servers {
		if !s.running() {
			continue
		}
		all, _ := s.members(ctx) // the others may answer
		for _, m := range all {
			if _, known := out[m.of.name]; known && !m.itself {
				continue
			}
			if out[m.of.name] = "primary"; m.primary != nil {
				out[m.of.name] = "replica of " + m.primary.name
			}
		}
	}
	return out
}

// ReplacePrimary orders a replica to replace its primary, by CLUSTER FAILOVER. What it answers instead of OK is the
// error.
func (s *Server) ReplacePrimary(ctx context.Context, mode faults.FailoverMode) error {
	if s.Kind() != Cluster {
		return s.unable("it is no node of a Redis Cluster")
	}
	order := []any{"cluster", "failover"}
	if mode == faults.FailoverForce || mode == faults.FailoverTakeover {
		order = append(order, string(mode))
	}
	return s.admin.Do(ctx, order...).Err()
}

// transfer is how long a node may take to give keys to another one.
const transfer = time.Minute

// TakeSlot moves the slot of the key from the node that has it to this one, as redis-cli --cluster reshard does, up to
// a step. What a node answers instead of OK is the error.
func (s *Server) TakeSlot(ctx context.Context, from *Server, until faults.MoveStep) error {
	if s.Kind() != Cluster {
		return s.unable("it is no node of a Redis Cluster")
	}
	slot := rediscluster.Slot(s.group.options.Key)
	if err := errors.Join(s.ask(ctx, "cluster", "setslot", slot, "importing", from.id),
		from.ask(ctx, "cluster", "setslot", slot, "migrating", s.id)); err != nil || until == faults.MoveStarts {
		return err
	}
	host, port, _ := net.SplitHostPort(s.addr)
	for {
		const atOnce = 100
		keys, err := from.admin.ClusterGetKeysInSlot(ctx, slot, atOnce).Result()
		if err != nil {
			return fmt.Errorf("%s: cluster getkeysinslot: %w", from.name, err)
		}
		if len(keys) == 0 {
			break
		}
		order := []any{"migrate", host, port, "", 0, transfer.Milliseconds(), "replace", "keys"}
		for _, k := range keys {
			order = append(order, k)
		}
		if err := from.ask(ctx, order...); err != nil {
			return err
		}
	}
	if until == faults.MoveKeys {
		return nil
	}
	return errors.Join(s.ask(ctx, "cluster", "setslot", slot, "node", s.id),
		from.ask(ctx, "cluster", "setslot", slot, "node", s.id))
}

// Slot is that of the key of a Redis Cluster.
func (g *Group) Slot() int { return rediscluster.Slot(g.options.Key) }
