package register

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"locksim/lock"
	"locksim/scenarios"
)

// locker is a lease in a register: the id of the owner, set if the register is
// empty.
type locker struct {
	env   scenarios.Env
	blind bool // the mistake: it releases without a check of the owner
	grant int
}

type lease struct {
	*locker
	ctx      context.Context
	name, id string
	until    time.Time
}

// Key is the register of a resource. The protocol has words, and a resource may have any
// name.
func Key(resource string) string { return url.PathEscape(resource) }

func (l *locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l.grant++
	name = Key(name)
	spec, id := l.env.Spec(), fmt.Sprintf("%s.%d", url.PathEscape(l.env.Identity()), l.grant)
	for {
		asked := l.env.Clock().Now() // the lease is counted from before the request
		switch answer, err := l.ask(ctx, "CAS %s - %s %d", name, id, spec.TTL.Milliseconds()); {
		case err != nil:
			_, _ = l.ask(context.WithoutCancel(ctx), "CAS %s %s - 0", name, id) // it may have been granted
			return nil, err
		case answer == "OK":
			return &lease{l, ctx, name, id, asked.Add(spec.TTL)}, nil
		}
		if err := l.env.Clock().Sleep(ctx, spec.Backoff.Max); err != nil {
			return nil, err
		}
	}
}

func (l *lease) Token() uint64            { return 0 }
func (l *lease) Until() time.Time         { return l.until }
func (l *lease) Lost() <-chan struct{}    { return nil } // it gives no notice
func (l *lease) Context() context.Context { return l.ctx }

func (l *lease) Release(ctx context.Context) error {
	ctx, owner := context.WithoutCancel(ctx), l.id // a release continues after the end of its request
	if l.blind {
		answer, _ := l.ask(ctx, "GET %s", l.name)
		owner = strings.TrimPrefix(answer, "OK ")
	}
	answer, err := l.ask(ctx, "CAS %s %s - 0", l.name, owner)
	if err == nil && answer != "OK" {
		return lock.ErrNotHeld
	}
	return err
}

// ask makes a request over a new connection. It waits for two seconds.
func (l *locker) ask(ctx context.Context, format string, args ...any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := l.env.Dial(ctx, "tcp", l.env.Address("k0"))
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err = fmt.Fprintf(c, format+"\n", args...); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return strings.TrimSpace(answer), nil
}
