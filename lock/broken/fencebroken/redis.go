// Package fencebroken has fences that are wrong on purpose: protected stores as people write them, each with one
// mistake, to show what package scenarios finds. Never use one of them.
//
// Each reads and writes values by key, and takes the token of the sender's grant; the right ones are in
// [locksim/lock/fence/redisguard] and [locksim/lock/fence/sqlguard].
package fencebroken

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock/fence"
	"locksim/lock/promise"
)

// Specimen is a fence over Redis with one mistake.
type Specimen struct {
	// Name is its name, Mistake what is wrong with it, as a sentence.
	Name, Mistake string
	// Rule is the rule that it promises.
	Rule fence.Mode
	// New makes the access of one client. other reaches the second of two Redis servers, or a replica of the first, for
	// those that need one.
	New func(c, other goredis.Cmdable) Store
	// Redis is the number of servers that it needs, 0 for one; Replicas that of replicas of the first. Resends says that
	// its client is one with the defaults of go-redis, which sends a request again that was not answered in time.
	Redis    int
	Replicas int
	Resends  bool
	// Faults are the classes of fault under which it promises to be right; nil for the usual ones.
	Faults []promise.Fault
}

// Store is what each of them is.
type Store interface {
	Read(ctx context.Context, key string, op fence.Op) (value string, err error)
	Write(ctx context.Context, key, value string, op fence.Op) error
}

// Specimens are all of them. The caller owns the slice.
func Specimens() []Specimen {
	return []Specimen{
		{Name: "one-for-all", Rule: fence.Check,
			New:     func(c, _ goredis.Cmdable) Store { return script{c, "all:token", guarded} },
			Mistake: "It has one highest token for all keys."},
		{Name: "four-requests", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return requests{c} },
			Mistake: "It reads the token, compares it, writes the data and then the token, by four requests."},
		{Name: "token-after-data", Rule: fence.Check,
			New:     func(c, _ goredis.Cmdable) Store { return script{c, "", "token-after"} },
			Mistake: "It writes the data behind a check, and the token by a second request."},
		{Name: "cache-in-front", Rule: fence.Check, Redis: 2,
			New:     func(c, cache goredis.Cmdable) Store { return inFront{c, cache} },
			Mistake: "A cache in front of the store checks the tokens, and the store takes what comes through."},
		{Name: "checks-in-client", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return newInClient(c) },
			Mistake: "Each process compares tokens with the highest that it has seen itself."},
		{Name: "behind-a-replica", Rule: fence.Check, Replicas: 1,
			New:     func(c, replica goredis.Cmdable) Store { return behind{script{c, "", guarded}, replica} },
			Mistake: "It reads the values from a replica."},
		{Name: "forgets", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return script{c, "", "expiring"} },
			Mistake: "Its token has an expiry, as a lock has."},
		{Name: "forgets-at-restart", Rule: fence.Check, Redis: 2, Faults: []promise.Fault{promise.NodeCrash},
			New:     func(c, memory goredis.Cmdable) Store { return inFront{c, memory} },
			Mistake: "Its tokens are in a server that keeps nothing over a restart, and its data is in another one."},
		{Name: "compares-as-text", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return script{c, "", "text"} },
			Mistake: "It compares tokens as text, so that 10 is below 9."},
		{Name: "32-bits", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return script{c, "", "narrow"} },
			Mistake: "It keeps tokens in a number of 32 bits, which wraps around."},
		{Name: "equal-tokens", Rule: fence.Strict, New: func(c, _ goredis.Cmdable) Store { return script{c, "", guarded} },
			Mistake: "It takes equal tokens of two holders, and promises to refuse them."},
		{Name: "sends-twice", Rule: fence.Check, Resends: true,
			New: func(c, _ goredis.Cmdable) Store { return script{c, "", guarded} },
			Mistake: "Its client sends a write again that was not answered in time, and the first copy may come after " +
				"later ones."},
		{Name: "refuses-retries", Rule: fence.Check, New: func(c, _ goredis.Cmdable) Store { return script{c, "", "above"} },
			Mistake: "It takes only tokens above the highest, so that it refuses the second write of a holder, and a retry."},
		{Name: "reads-unchecked", Rule: fence.Seal, New: func(c, _ goredis.Cmdable) Store { return script{c, "", guarded} },
			Mistake: "Its reads do not count, and it promises that they do."},
	}
}

// Find is the specimen of a name. The error lists the names.
func Find(name string) (Specimen, error) {
	var names []string
	for _, s := range Specimens() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Specimen{}, fmt.Errorf("there is no wrong fence %q: there are %q", name, names)
}

// guarded is the name of the script that is right as long as its token has a key for each value.
const guarded = "guarded"

// scripts write a value behind a check. KEYS: value, token. ARGV: value, token. They return 1, or 0 for a refusal.
// Tokens of up to 16 digits are exact in them.
var scripts = map[string]*goredis.Script{
	guarded: goredis.NewScript(`
local highest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[2]) < highest then return 0 end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
return 1`),
	"above": goredis.NewScript(`
local highest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[2]) <= highest then return 0 end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
return 1`),
	"text": goredis.NewScript(`
local highest = redis.call('GET', KEYS[2]) or ''
if ARGV[2] < highest then return 0 end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
return 1`),
	"narrow": goredis.NewScript(`
local token = tonumber(ARGV[2]) % 4294967296
if token >= 2147483648 then token = token - 4294967296 end
if token < tonumber(redis.call('GET', KEYS[2]) or '0') then return 0 end
redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], string.format('%.0f', token))
return 1`),
	"expiring": goredis.NewScript(`
local highest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[2]) < highest then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', 1000)
return 1`),
	"token-after": goredis.NewScript(`
local highest = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[2]) < highest then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1`),
}

// script writes by one of the scripts. token is the key of the token of all keys; "" for one of each key.
type script struct {
	c     goredis.Cmdable
	token string
	name  string
}

func (s script) Read(ctx context.Context, key string, _ fence.Op) (string, error) {
	return get(ctx, s.c, key)
}

func (s script) Write(ctx context.Context, key, value string, op fence.Op) error {
	token := s.token
	if token == "" {
		token = tokenOf(key)
	}
	taken, err := scripts[s.name].Run(ctx, s.c, []string{dataOf(key), token}, value, op.Token).Int()
	switch {
	case err != nil:
		return err
	case taken == 0:
		return fence.ErrStale
	case s.name == "token-after":
		return s.c.Set(ctx, token, op.Token, 0).Err()
	}
	return nil
}

func tokenOf(key string) string { return key + ":token" }

func dataOf(key string) string { return key + ":data" }

func get(ctx context.Context, c goredis.Cmdable, key string) (string, error) {
	value, err := c.Get(ctx, dataOf(key)).Result()
	if errors.Is(err, goredis.Nil) {
		return "", nil
	}
	return value, err
}

// requests reads the token, compares it in the client, and writes the data and the token, one request after another.
type requests struct{ c goredis.Cmdable }

func (r requests) Read(ctx context.Context, key string, _ fence.Op) (string, error) {
	return get(ctx, r.c, key)
}

func (r requests) Write(ctx context.Context, key, value string, op fence.Op) error {
	text, err := r.c.Get(ctx, tokenOf(key)).Result()
	if err != nil && !errors.Is(err, goredis.Nil) {
		return err
	}
	if text != "" {
		current, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		if op.Token < current {
			return fence.ErrStale
		}
	}
	if err := r.c.Set(ctx, dataOf(key), value, 0).Err(); err != nil {
		return err
	}
	return r.c.Set(ctx, tokenOf(key), op.Token, 0).Err()
}

// inFront checks and keeps tokens in a cache, and writes to the store behind it whatever the cache lets through.
type inFront struct {
	c, cache goredis.Cmdable
}

func (f inFront) Read(ctx context.Context, key string, _ fence.Op) (string, error) {
	return get(ctx, f.c, key)
}

func (f inFront) Write(ctx context.Context, key, value string, op fence.Op) error {
	err := script{f.cache, "", guarded}.Write(ctx, key, value, op)
	if err != nil {
		return err
	}
	return f.c.Set(ctx, dataOf(key), value, 0).Err()
}

// inClient compares tokens in the process.
type inClient struct {
	c       goredis.Cmdable
	highest map[string]uint64
}

func newInClient(c goredis.Cmdable) *inClient { return &inClient{c, map[string]uint64{}} }

func (c *inClient) Read(ctx context.Context, key string, op fence.Op) (string, error) {
	c.highest[key] = max(c.highest[key], op.Token)
	return get(ctx, c.c, key)
}

func (c *inClient) Write(ctx context.Context, key, value string, op fence.Op) error {
	if op.Token < c.highest[key] {
		return fence.ErrStale
	}
	c.highest[key] = op.Token
	return c.c.Set(ctx, dataOf(key), value, 0).Err()
}

// behind reads from a replica.
type behind struct {
	script
	replica goredis.Cmdable
}

func (b behind) Read(ctx context.Context, key string, _ fence.Op) (string, error) {
	return get(ctx, b.replica, key)
}
