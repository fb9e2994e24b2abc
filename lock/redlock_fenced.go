package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// RedlockFenced is an experiment: [Redlock] with a token, which is 1 + the highest counter of a majority of the nodes,
// written back to a majority. It exists to show the limits of that. Do not use it.
//
// A grant takes two rounds. In the first, each node takes the lock and returns its counter. In the second, each node
// where the claim still owns the key raises its counter to the token. Both need a majority.
//
// # When the tokens increase
//
// Consider a grant that returned before another was requested. Its token is on a majority; the other reads a majority;
// the two have a node in common, so the later token is higher. And of two grants that overlap, both wrote on a common
// node while they owned its key: the second owner there had read the first's token. This needs no clock and no
// validity. Its only condition is that every node keeps every counter that it has confirmed.
//
// # When they do not
//
// A single node that loses its counter is enough, since it may be the only one in common. It does so when it restarts
// without the last writes (any persistence short of appendfsync always), when a replica that lags is promoted, when the
// counter is evicted or flushed, or when a snapshot is restored. Then a token is minted twice, or a lower one after a
// higher (F09), and a resource that checks tokens refuses the rightful holder, or accepts the stale one. A lock whose
// tokens must be right needs a store that agrees on one order by consensus, or one node that keeps its data, as
// [Fenced] does.
type RedlockFenced struct{ quorum *quorum }

// NewRedlockFenced returns a lock on the nodes of the clients, as [NewRedlock] does.
func NewRedlockFenced(clients []Redis, o RedlockOptions) (*RedlockFenced, error) {
	l := &RedlockFenced{}
	q, err := newQuorum(clients, o, l.grant)
	if err != nil {
		return nil, fmt.Errorf("make a fenced redlock: %w", err)
	}
	l.quorum = q
	return l, nil
}

// Acquire implements [Locker]. The documentation of [Redlock] says when it fails.
func (l *RedlockFenced) Acquire(ctx context.Context, resource string) (Lease, error) {
	return l.quorum.acquire(ctx, resource)
}

// TryAcquire implements [Trier]. It fails as Acquire does, and with [ErrTaken] where Acquire would wait.
func (l *RedlockFenced) TryAcquire(ctx context.Context, resource string) (Lease, error) {
	return l.quorum.tryAcquire(ctx, resource)
}

// Key returns the key that exists, on a majority of the nodes, while the lock on resource is held.
func (l *RedlockFenced) Key(resource string) string { return lockKey(l.quorum.opt.KeyPrefix, resource) }

// TokenKey returns the key of each node's counter for resource. It is never deleted.
func (l *RedlockFenced) TokenKey(resource string) string {
	return tokenKey(l.quorum.opt.KeyPrefix, resource)
}

// maxToken is the first number that Lua cannot distinguish from its successor.
const maxToken = 1 << 53

func (l *RedlockFenced) grant(ctx context.Context, c claim) (token uint64, err error) {
	took := l.quorum.ask(ctx, l.quorum.nodeTimeout, func(ctx context.Context, node Redis) vote { return l.take(ctx, node, c) })
	if err := took.granted(taken); err != nil {
		return 0, err
	}
	for _, vote := range took {
		token = max(token, vote.counter+1)
	}
	if token >= maxToken {
		return 0, errors.New("the token counter is out of range")
	}
	wrote := l.quorum.ask(ctx, l.quorum.nodeTimeout, func(ctx context.Context, node Redis) vote {
		return newVote(owned(l.run(ctx, node, raiseTokenScript, c, token)))
	})
	return token, wrote.granted(gone)
}

// take asks one node for the lock and its counter.
func (l *RedlockFenced) take(ctx context.Context, node Redis, c claim) vote {
	counter, err := l.run(ctx, node, grantQuorumFencedScript, c, l.quorum.opt.TTL.Milliseconds()).Int64()
	v := newVote(counter >= 0, err)
	if v.yes {
		v.counter = uint64(counter)
	}
	return v
}

// run runs a script on the lock key and the counter.
func (l *RedlockFenced) run(ctx context.Context, node Redis, s *redis.Script, c claim, arg any) *redis.Cmd {
	return s.Run(ctx, node, []string{c.key, l.TokenKey(c.resource)}, c.owner, arg)
}
