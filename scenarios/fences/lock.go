package fences

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"locksim/lock"
	"locksim/scenarios/subject"
)

// locker is the lock beside a fence under test: a lease in the ledger, with a token.
type locker struct {
	env     subject.Env
	twice   bool
	mu      sync.Mutex
	entropy io.Reader // of the ids of its grants
}

// owner is the id of another grant.
func (l *locker) owner() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entropy == nil {
		l.entropy = l.env.Entropy("ledger")
	}
	id := make([]byte, 8)
	if _, err := io.ReadFull(l.entropy, id); err != nil {
		return "", err
	}
	return hex.EncodeToString(id), nil
}

// Acquire implements [lock.Locker]. It asks again when the lease of another client has ended.
func (l *locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	owner, err := l.owner()
	if err != nil {
		return nil, err
	}
	name, ttl := url.PathEscape(name), l.env.Spec().TTL
	twice := 0
	if l.twice {
		twice = 1
	}
	for {
		asked := l.env.Clock().Now() // the lease counts from before the request
		answer, err := l.ask(ctx, fmt.Sprintf("TAKE %s %s %d %d", name, owner, ttl.Milliseconds(), twice))
		if err != nil {
			_, _ = l.ask(context.WithoutCancel(ctx), fmt.Sprintf("FREE %s %s", name, owner)) // it may have been granted
			return nil, err
		}
		word, number, _ := strings.Cut(answer, " ")
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the ledger answered %q", answer)
		}
		if word == "OK" {
			held, end := context.WithCancelCause(context.WithoutCancel(ctx))
			return &lease{locker: l, ctx: held, end: end, name: name, owner: owner, token: n, until: asked.Add(ttl)}, nil
		}
		if err := l.env.Clock().Sleep(ctx, time.Duration(n+1)*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// ask makes a request over a new connection. It waits for two seconds.
func (l *locker) ask(ctx context.Context, request string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) //nolint:forbidigo // of the harness, in its bubble alone
	defer cancel()
	c, err := l.env.Dial(ctx, "tcp", l.env.Address(ledgerName))
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err = fmt.Fprintln(c, request); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return strings.TrimSpace(answer), nil
}

type lease struct {
	*locker
	ctx         context.Context
	end         context.CancelCauseFunc
	name, owner string
	token       uint64
	until       time.Time
}

// Token implements [lock.Lease].
func (l *lease) Token() uint64 { return l.token }

// Until implements [lock.Lease].
func (l *lease) Until() time.Time { return l.until }

// Lost implements [lock.Lease]. The lock gives no notice.
func (l *lease) Lost() <-chan struct{} { return nil }

// Context implements [lock.Lease].
func (l *lease) Context() context.Context { return l.ctx }

// Release implements [lock.Lease].
func (l *lease) Release(ctx context.Context) error {
	l.end(nil)
	answer, err := l.ask(context.WithoutCancel(ctx), fmt.Sprintf("FREE %s %s", l.name, l.owner))
	if err == nil && answer != "OK" {
		return lock.ErrNotHeld
	}
	return err
}
