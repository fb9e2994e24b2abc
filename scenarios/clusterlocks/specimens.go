package clusterlocks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// Specimens are locks that use a Redis Cluster wrongly. Each is the lock "single" over a client with one mistake.
func Specimens() []subject.Lock {
	var all []subject.Lock
	single := Lock("single").Promise
	for _, s := range []struct {
		name, wrong string
		nodes       int
		key         string // for the resource order
		promise     lock.Promise
		counts      time.Duration // how long a grant takes besides its request
		over        func(e subject.Env) lock.Redis
	}{
		{"cluster-redlock", "It is a Redlock over the nodes of one cluster: it counts the nodes that have its key, the " +
			"primary and the replicas, and takes them for votes. A replica has what its primary has, and takes its vote back " +
			"when it has another one.", 9, ownKey,
			// One that does not get a majority gives up, and waits.
			lock.Promise{FreeWithin: promise.TermTTL, FreeAfter: map[promise.Cause]promise.Term{
				promise.CauseOther: promise.TermTTL}}, 5 * time.Second, countsCopies},
		{"cluster-evalsha", "It loads its scripts once, on the primary of its key, and sends only EVALSHA then. A replica " +
			"that takes over, or a node that gets the slot, does not have them.", count, ownKey, single, 0, onlySHA},
		{"cluster-two-keys", "Its release is a script with two keys without a hash tag, that of the lock and a list for " +
			"waiters. They are in two slots, and the node answers CROSSSLOT.", count, untagged(ownKey), single, 0, twoKeys},
	} {
		all = append(all, subject.Lock{
			Name: kinds.BrokenPrefix + s.name, Traits: subject.Traits{FollowsSpec: true, Promise: s.promise, GrantTime: s.counts,
				Taken:   []error{lock.ErrTaken},
				Servers: []subject.Servers{{Kind: Kind(s.key), Count: s.nodes}},
				Keys: func(resource string) []string {
					if s.key != ownKey {
						return []string{lock.DefaultKeyPrefix + resource}
					}
					return []string{lock.DefaultKeyPrefix + "{" + resource + "}"}
				},
				About: "A lock that is wrong on purpose: " + s.wrong, ForWhom: "Tests: it is wrong on purpose."},
			New: func(e subject.Env) (lock.Locker, error) {
				spec := e.Spec()
				return lock.NewSingle(s.over(e), lock.Options{
					TTL: spec.TTL, Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
					Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock"),
				})
			},
		})
	}
	return all
}

// copies is a client whose SetNX succeeds once most nodes of a shard have the key.
type copies struct {
	*goredis.ClusterClient
	env subject.Env

	mu     sync.Mutex                   // not kept over a request
	shards map[string][]*goredis.Client // by the key
}

func countsCopies(e subject.Env) lock.Redis {
	return &copies{ClusterClient: Client(e, options(e)), env: e, shards: map[string][]*goredis.Client{}}
}

// countsAgain is how long it waits between two counts, which it makes for half a lease.
const countsAgain = 100 * time.Millisecond

// SetNX implements [lock.Redis].
func (c *copies) SetNX(ctx context.Context, key string, value any, ttl time.Duration) *goredis.BoolCmd {
	cmd := goredis.NewBoolCmd(ctx)
	ok, err := c.grant(ctx, key, value, ttl)
	cmd.SetVal(ok)
	if err != nil {
		cmd.SetErr(err)
	}
	return cmd
}

func (c *copies) grant(ctx context.Context, key string, value any, ttl time.Duration) (bool, error) {
	ok, err := c.ClusterClient.SetNX(ctx, key, value, ttl).Result()
	if !ok || err != nil {
		return false, err
	}
	nodes, err := c.shard(ctx, key)
	if err != nil {
		return false, err
	}
	until := c.env.Clock().Now().Add(ttl / 2)
	for c.env.Clock().Now().Before(until) {
		votes := 0
		for _, n := range nodes {
			if votesFor(ctx, n, key, fmt.Sprint(value)) {
				votes++
			}
		}
		if votes > len(nodes)/2 {
			return true, nil
		}
		if err := c.env.Clock().Sleep(ctx, countsAgain); err != nil {
			return false, err
		}
	}
	c.Del(ctx, key)
	return false, errors.New("most nodes of the shard do not have the lock")
}

// votesFor reports whether a node has a key with that value. One that does not answer has no vote.
func votesFor(ctx context.Context, n *goredis.Client, key, value string) bool {
	var has *goredis.StringCmd
	_, err := n.Pipelined(ctx, func(p goredis.Pipeliner) error { // on one connection
		p.ReadOnly(ctx)
		has = p.Get(ctx, key)
		return nil
	})
	return err == nil && has.Val() == value
}

// shard are clients of the nodes that have the slot of a key, by the map of the cluster when the key was locked first.
func (c *copies) shard(ctx context.Context, key string) ([]*goredis.Client, error) {
	c.mu.Lock()
	known := c.shards[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	slot, err := c.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	ranges, err := c.ClusterSlots(ctx).Result() //nolint:staticcheck // as most clients do, since Redis 7 is not all
	if err != nil {
		return nil, err
	}
	var nodes []*goredis.Client
	for _, r := range ranges {
		if slot < int64(r.Start) || slot > int64(r.End) {
			continue
		}
		for _, n := range r.Nodes {
			quiet := redisclient.Quiet()
			quiet.Addr, quiet.ContextTimeoutEnabled = n.Addr, true
			quiet.DialTimeout = promise.NodeTimeout(c.env.Spec().TTL)
			quiet.ReadTimeout = quiet.DialTimeout
			nodes = append(nodes, redisclient.With(c.env, quiet))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shards[key] = nodes
	return nodes, nil
}

// sha is a client that loads each script once, on the primary of its key.
type sha struct {
	*goredis.ClusterClient

	mu     sync.Mutex // not kept over a request
	loaded map[string]bool
}

func onlySHA(e subject.Env) lock.Redis {
	return &sha{ClusterClient: Client(e, options(e)), loaded: map[string]bool{}}
}

// Eval implements [goredis.Scripter]. Those who call it have had NOSCRIPT for the script.
func (s *sha) Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd {
	id := goredis.NewScript(script).Hash()
	if err := s.load(ctx, id, script, keys[0]); err != nil {
		cmd := goredis.NewCmd(ctx)
		cmd.SetErr(err)
		return cmd
	}
	return s.EvalSha(ctx, id, keys, args...)
}

func (s *sha) load(ctx context.Context, id, script, key string) error {
	s.mu.Lock()
	loaded := s.loaded[id]
	s.mu.Unlock()
	if loaded {
		return nil
	}
	primary, err := s.MasterForKey(ctx, key)
	if err != nil {
		return err
	}
	if err := primary.ScriptLoad(ctx, script).Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded[id] = true
	return nil
}

// untagged is a key without its hash tag.
func untagged(key string) string { return strings.NewReplacer("{", "", "}", "").Replace(key) }

// pair is a client whose scripts have a second key.
type pair struct{ *goredis.ClusterClient }

func twoKeys(e subject.Env) lock.Redis { return pair{Client(e, options(e))} }

// both are the key of the lock and that of its list, without hash tags.
func both(keys []string) []string {
	key := untagged(keys[0])
	return append([]string{key, "lock-signal:" + strings.TrimPrefix(key, lock.DefaultKeyPrefix)}, keys[1:]...)
}

// SetNX implements [lock.Redis].
func (p pair) SetNX(ctx context.Context, key string, value any, ttl time.Duration) *goredis.BoolCmd {
	return p.ClusterClient.SetNX(ctx, untagged(key), value, ttl)
}

// Eval implements [goredis.Scripter].
func (p pair) Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd {
	return p.ClusterClient.Eval(ctx, script, both(keys), args...)
}

// EvalSha implements [goredis.Scripter].
func (p pair) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *goredis.Cmd {
	return p.ClusterClient.EvalSha(ctx, sha, both(keys), args...)
}
