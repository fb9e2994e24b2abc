package redisguard

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"locksim/lock/fence"
)

// Reserved is the prefix of the fields with the state of a guard's rule. Read and Write refuse such names.
const Reserved = "fence:"

// ErrOutcomeUnknown is returned when a write was sent, or may have been, and no answer arrived: it may or may not have
// been made. The error also wraps the cause. Read again to find out, or, with any rule but CAS, write again under the
// same grant.
var ErrOutcomeUnknown = errors.New("outcome unknown")

// Redis is what a guard needs of a go-redis client. Every client of go-redis has it.
type Redis interface{ redis.Scripter }

// Guard reads and writes fields of hashes under one rule. It is safe for concurrent use.
type Guard struct {
	redis  Redis
	mode   fence.Mode
	script *redis.Script
}

// Value is the result of a read.
type Value struct {
	// Text is the field's value, empty if it does not exist.
	Text string
	// Found says whether the field exists.
	Found bool
	// Version counts the writes to the field under CAS. A write that is based on this read has it in its [fence.Op].
	// Under other rules it does not change.
	Version uint64
}

// New returns a guard with the rule mode for the data on client's node. It fails for [fence.None], which guards
// nothing: use the client itself.
func New(client Redis, mode fence.Mode) (*Guard, error) {
	switch {
	case client == nil:
		return nil, errors.New("make a Redis guard: the client is nil")
	case scripts[mode] == nil:
		return nil, fmt.Errorf("make a Redis guard: rule %q guards nothing: choose one of %q", mode, fence.Modes()[1:])
	}
	return &Guard{redis: client, mode: mode, script: scripts[mode]}, nil
}

// Mode returns the guard's rule.
func (g *Guard) Mode() fence.Mode { return g.mode }

// Read returns the value of a field of the hash at key, if the rule accepts the read. It changes the state of the rule,
// so it needs the node that accepts writes.
//
// The error wraps [fence.ErrStale] or [fence.ErrNoGrant] when the rule refused. Any other error means that there was no
// answer: the read may count for the rule nevertheless, and may be repeated.
func (g *Guard) Read(ctx context.Context, key, field string, op fence.Op) (Value, error) {
	v, err := g.read(ctx, key, field, op)
	if err != nil {
		return Value{}, fmt.Errorf("read field %s of %s: %w", field, key, err)
	}
	return v, nil
}

func (g *Guard) read(ctx context.Context, key, field string, op fence.Op) (Value, error) {
	if err := g.check(field, op, g.mode.Read); err != nil {
		return Value{}, err
	}
	a, err := g.ask(ctx, key, op, field)
	if err != nil {
		return Value{}, err
	}
	if !a.accepted {
		return Value{}, refusal(g.mode.Read, a.state, op)
	}
	return a.value, nil
}

// Write stores value in a field of the hash at key, if the rule accepts the write. Under CAS the
// field's version is then op.Version + 1.
//
// The error wraps [fence.ErrStale] or [fence.ErrNoGrant] when the rule refused, and [ErrOutcomeUnknown] when no answer
// arrived. After any other error nothing was written.
func (g *Guard) Write(ctx context.Context, key, field, value string, op fence.Op) error {
	if err := g.write(ctx, key, field, value, op); err != nil {
		return fmt.Errorf("write field %s of %s: %w", field, key, err)
	}
	return nil
}

func (g *Guard) write(ctx context.Context, key, field, value string, op fence.Op) error {
	if err := g.check(field, op, g.mode.Write); err != nil {
		return err
	}
	a, err := g.ask(ctx, key, op, field, value)
	if err != nil {
		return outcome(err)
	}
	if !a.accepted {
		return refusal(g.mode.Write, a.state, op)
	}
	return nil
}

// highestScript returns the highest token of a hash, in decimal digits.
var highestScript = redis.NewScript(`return redis.call('HGET', KEYS[1], 'fence:highest') or '0'`)

// Highest returns the highest token that counts for the hash at key, 0 if there is none yet. It changes nothing. It is
// for a lock that has lost its counter: see [locksim/lock.RaiseToken].
func (g *Guard) Highest(ctx context.Context, key string) (uint64, error) {
	text, err := highestScript.Run(ctx, g.redis, []string{key}).Text()
	if err != nil {
		return 0, fmt.Errorf("read the highest token of %s: %w", key, err)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("field %shighest of %s holds %q, which is not a number", Reserved, key, text)
	}
	return n, nil
}

// judge is a rule for reads or for writes.
type judge func(fence.State, fence.Op) (fence.State, error)

// check refuses operations that are not acceptable in any state of the hash.
func (g *Guard) check(field string, op fence.Op, rule judge) error {
	if strings.HasPrefix(field, Reserved) {
		return fmt.Errorf("fields that begin with %q are the guard's own", Reserved)
	}
	if g.mode.NeedsGrant() && op.Grant == "" {
		return refusal(rule, fence.State{}, op)
	}
	return nil
}

// refusal turns a script's decision into the error of its rule.
func refusal(rule judge, s fence.State, op fence.Op) error {
	if _, err := rule(s, op); err != nil {
		return err
	}
	return fmt.Errorf("refused, although the rule accepts %+v on %+v: the fields %q* of the hash are damaged", op, s,
		Reserved)
}

// ask runs the script: a write if there is a value, a read otherwise.
func (g *Guard) ask(ctx context.Context, key string, op fence.Op, fieldAndValue ...any) (answer, error) {
	args := append([]any{decimal(op.Token), op.Grant, decimal(op.Version)}, fieldAndValue...)
	reply, err := g.script.Run(ctx, g.redis, []string{key}, args...).Slice()
	if err != nil {
		return answer{}, err
	}
	return parse(reply)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// outcome adds ErrOutcomeUnknown to err unless Redis itself has answered: it refuses a script before it runs, and the
// guard's scripts write nothing before their last step.
func outcome(err error) error {
	if _, ok := errors.AsType[redis.Error](err); ok {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

var (
	//go:embed common.lua
	commonSource string
	//go:embed check.lua
	checkSource string
	//go:embed seal.lua
	sealSource string
	//go:embed strict.lua
	strictSource string
	//go:embed claim.lua
	claimSource string
	//go:embed cas.lua
	casSource string
)

// scripts are the rules, each with the common beginning.
var scripts = map[fence.Mode]*redis.Script{
	fence.Check:  redis.NewScript(commonSource + checkSource),
	fence.Seal:   redis.NewScript(commonSource + sealSource),
	fence.Strict: redis.NewScript(commonSource + strictSource),
	fence.Claim:  redis.NewScript(commonSource + claimSource),
	fence.CAS:    redis.NewScript(commonSource + casSource),
}
