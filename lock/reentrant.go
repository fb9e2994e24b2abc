package lock

import (
	"context"
	"errors"
	"fmt"
)

// Owned is a reentrant lock, which can be used in the name of an owner. It is found by type assertion.
type Owned interface {
	// As returns the lock for an owner: while owner holds a resource, each further Acquire by the same owner enters it
	// again. The Locker has the abilities of the lock itself, and no cost.
	As(owner string) Locker
}

// Reentrant is [Single] for code that may acquire a lock it already holds: an owner enters again at once, and the lock
// is free when each entry has been released. It mints no tokens. It is safe for concurrent use.
//
// The caller must name the owner: goroutines have no identity, and an id per process would admit all its goroutines
// together (F32). As takes an id of the caller's choice, for one task at a time; two workers with the same id are one
// owner, and do not exclude each other (F31). A plain Acquire has a new owner id of 128 bits, so it never enters again.
//
//	job := locks.As("job:" + jobID)
//	outer, err := job.Acquire(ctx, "order:42")
//	inner, err := job.Acquire(ctx, "order:42") // at once
//
// Each entry has its own lease, to be released separately, in any order. An entry renews the TTL of the key, and so
// does Extend of any lease, but only that lease's Until moves: the others keep their end. An entry never shortens the
// validity of an earlier one.
//
// A lease is one entry into one grant: once that grant has expired its Release returns [ErrNotHeld] and changes
// nothing, even if the same owner has been granted the lock again (F33). A release that is sent twice counts once
// (F30), and so does an Acquire.
//
// The key is a hash: a field "owner:ID" with the number of entries, and a field "entry:ID" for each. See [Single] for
// when Acquire fails; a failed entry does not affect the earlier ones.
type Reentrant struct{ reentrant }

// NewReentrant returns a lock on the node that client talks to, or an error that says which option is
// wrong.
func NewReentrant(client Redis, o Options) (*Reentrant, error) {
	e, err := newReentrantEngine(client, o, noTokens)
	if err != nil {
		return nil, fmt.Errorf("make a reentrant lock: %w", err)
	}
	return &Reentrant{reentrant{engine: e}}, nil
}

// ReentrantFenced is [Reentrant] with a fencing token, as [Fenced] mints it. All entries into one grant have the token
// of the grant: with a token per entry, a write of the inner section would make the fence refuse those of the outer one
// (F34). The hash has it in the field "token".
type ReentrantFenced struct{ reentrant }

// NewReentrantFenced returns a lock on the node that client talks to, or an error that says which option
// is wrong.
func NewReentrantFenced(client Redis, o Options) (*ReentrantFenced, error) {
	e, err := newReentrantEngine(client, o, tokensOf)
	if err != nil {
		return nil, fmt.Errorf("make a reentrant-fenced lock: %w", err)
	}
	return &ReentrantFenced{reentrant{engine: e}}, nil
}

// TokenKey returns the key of the counter that the tokens for resource are minted from. It is never
// deleted, and it holds the last token minted.
func (l *ReentrantFenced) TokenKey(resource string) string {
	return tokenKey(l.engine.opt.KeyPrefix, resource)
}

// newReentrantEngine returns an engine whose claims are entries of an owner.
func newReentrantEngine(client Redis, o Options, m mint) (*engine, error) {
	e, err := newEngine(client, o, nil)
	if err != nil {
		return nil, err
	}
	ttl := e.opt.TTL.Milliseconds()
	e.grant = func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
		return m.ask(ctx, client, grantReentrantScript, c, []string{c.key}, ownerField(c), entryField(c), ttl)
	}
	e.renew = func(ctx context.Context, c claim) (bool, error) {
		return owned(extendReentrantScript.Run(ctx, client, []string{c.key}, entryField(c), ttl))
	}
	e.release = func(ctx context.Context, c claim) (bool, error) {
		return owned(releaseReentrantScript.Run(ctx, client, []string{c.key}, ownerField(c), entryField(c), e.channel(c)))
	}
	return e, nil
}

// ownerField and entryField are the fields of the hash. Their prefixes distinguish them from each other and from
// "token", for any name of an owner.
func ownerField(c claim) string { return "owner:" + c.owner }
func entryField(c claim) string { return "entry:" + c.id }

// reentrant is the common part of the two kinds, and the lock that As returns.
type reentrant struct {
	engine *engine
	owner  *string // nil: a new one for each Acquire
}

// Acquire implements [Locker].
func (l reentrant) Acquire(ctx context.Context, resource string) (Lease, error) {
	c, err := l.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", resource, err)
	}
	return l.engine.acquireClaim(ctx, c)
}

// TryAcquire implements [Trier].
func (l reentrant) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	c, err := l.claim(resource)
	if err != nil {
		return nil, fmt.Errorf("try to acquire %q: %w", resource, err)
	}
	return l.engine.tryOnce(ctx, c)
}

// As implements [Owned]. The owner is not empty, or else no Acquire succeeds.
func (l reentrant) As(owner string) Locker { return reentrant{l.engine, &owner} }

// Key returns the key that exists while the lock on resource is held.
func (l reentrant) Key(resource string) string { return lockKey(l.engine.opt.KeyPrefix, resource) }

func (l reentrant) claim(resource string) (claim, error) {
	c, err := l.engine.claim(resource)
	if err != nil || l.owner == nil {
		return c, err
	}
	if *l.owner == "" {
		return claim{}, errors.New("the owner has no name")
	}
	c.owner = *l.owner
	return c, nil
}
