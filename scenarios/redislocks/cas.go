package redislocks

import (
	"context"
	"errors"
	"slices"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"locksim/checker"

	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/lock/promise"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// Unlocked are kinds without a lock, on Redis.
func Unlocked() []subject.Lock { return []subject.Lock{CompareAndSet()} }

// CompareAndSet is no lock: values with a version in a hash of Redis, which a script compares before it writes, as
// [redisguard] has it.
func CompareAndSet() subject.Lock {
	l := subject.Unlocked("redis-cas", subject.Redis(1), slices.DeleteFunc(promise.OfLease().Exclusion,
		func(f promise.Fault) bool { return f == promise.NodeClock }), openHash)
	l.Data.Redis = &subject.InRedis{Of: operation, Where: func(resource, register string) (string, string) {
		return hashOf(resource), register
	}}
	l.About = "No lock: a hash on one Redis node has a version beside each value. A script writes only if the version " +
		"is the one that was read, and otherwise the client reads again, three times in all."
	l.ForWhom = "Changes of a value on the same Redis node that rarely meet, and that may be computed again."
	return l
}

// hashPrefix begins the keys of the protected data.
const hashPrefix = "data:"

func hashOf(resource string) string { return hashPrefix + resource }

// bareScript reads a field, or writes it whatever is there. Its arguments are those of the scripts of a guard.
var bareScript = goredis.NewScript(`-- unguarded: read a field, or write it whatever is there
if ARGV[5] then
  redis.call('HSET', KEYS[1], ARGV[4], ARGV[5])
  return {1}
end
return {1, '0', redis.call('HGET', KEYS[1], ARGV[4])}`)

// hashStore is the access of a client to the data.
type hashStore struct {
	client   *goredis.Client
	guard    *redisguard.Guard // nil without a fence
	versions map[string]uint64 // by the resource and the register, as the client has read them last
}

// openHash opens the data with a client that sends nothing twice, whatever the scenario says: a second copy of a write
// that took effect is refused, and its sender begins anew although it was done (F27).
func openHash(e subject.Env, mode fence.Mode) (subject.Store, error) {
	opt := redisclient.Quiet()
	opt.ContextTimeoutEnabled, opt.Addr = true, e.Address(subject.Primary)
	s := &hashStore{client: redisclient.With(e, opt), versions: map[string]uint64{}}
	if mode == fence.None {
		return s, nil
	}
	var err error
	s.guard, err = redisguard.New(s.client, mode)
	return s, err
}

// Do implements [subject.Store].
func (s *hashStore) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome,
	err error) {
	if op.Kind == checker.Write {
		err = s.write(ctx, op)
	} else {
		saw, err = s.read(ctx, op)
	}
	switch {
	case err == nil:
		return saw, checker.OutcomeOK, nil
	case errors.Is(err, fence.ErrStale):
		return "", checker.OutcomeRefused, err
	}
	return "", checker.OutcomeUnknown, err
}

// named is an operation for the guard. The rule cas looks at no grant, so its id says what the script is about.
func (s *hashStore) named(op checker.Op) fence.Op {
	return fence.Op{Grant: op.ID, Version: s.versions[string(op.Resource)+"/"+op.Register]}
}

func (s *hashStore) write(ctx context.Context, op checker.Op) error {
	if s.guard != nil {
		return s.guard.Write(ctx, hashOf(string(op.Resource)), op.Register, op.ID, s.named(op))
	}
	return bareScript.Run(ctx, s.client, []string{hashOf(string(op.Resource))}, "0", op.ID, "0", op.Register, op.ID).Err()
}

func (s *hashStore) read(ctx context.Context, op checker.Op) (saw string, err error) {
	key := hashOf(string(op.Resource))
	if s.guard != nil {
		v, err := s.guard.Read(ctx, key, op.Register, s.named(op))
		if err == nil {
			s.versions[string(op.Resource)+"/"+op.Register] = v.Version
		}
		return v.Text, err
	}
	answer, err := bareScript.Run(ctx, s.client, []string{key}, "0", op.ID, "0", op.Register).Slice()
	if err != nil || len(answer) < 3 {
		return "", err
	}
	saw, _ = answer[2].(string)
	return saw, nil
}

// operation is what a script of the guard, or [bareScript], is about: EVALSHA, the script, 1, the key, a token, the id
// of the operation, a version, the field, and the value of a write.
func operation(args []string) (op trace.Decision, ok bool) {
	if len(args) < 8 {
		return op, false
	}
	resource, ours := strings.CutPrefix(args[3], hashPrefix)
	return trace.Decision{Write: len(args) > 8, Resource: resource, Register: args[7], Op: args[5]}, ours
}
