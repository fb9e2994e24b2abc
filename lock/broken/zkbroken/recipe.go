package zkbroken

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
	"locksim/lock/broken/untold"
)

// recipe is the right part of the specimens.
type recipe struct {
	Specimen

	conn *zk.Conn
	opt  Options

	mu sync.Mutex // guards the entropy
}

// root is the node above those of the resources.
const root = "/broken"

// Node is the node of a resource: the parent of the queue, or that of the lock with a fixed name.
func Node(resource string) string { return root + "/" + url.PathEscape(resource) }

// Acquire implements [lock.Locker]. A request that fails is sent again, until ctx ends.
func (r *recipe) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	var id [16]byte
	r.mu.Lock()
	_, err := io.ReadFull(r.opt.Entropy, id[:])
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	n := &node{recipe: r, queue: Node(resource), name: "n-" + hex.EncodeToString(id[:]) + "-"}
	if r.mistake.adopts {
		n.name = "n-" + r.opt.Name + "-"
	}
	if r.Fixed {
		n.queue, n.name = root, strings.TrimPrefix(Node(resource), root+"/")
	}
	for {
		until, token, err := n.join(ctx)
		switch {
		case err == nil && r.mistake.forever:
			return untold.New(ctx, n, token), nil
		case err == nil:
			return lock.NewLease(ctx, r.opt.Clock, n, resource, token, until), nil
		case ctx.Err() != nil:
			_, _ = n.Delete(ctx)
			return nil, fmt.Errorf("acquire %s: gave up: %w: %w", resource, lock.ErrOutcomeUnknown, err)
		}
		if err := r.opt.Clock.Sleep(ctx, r.opt.Retry); err != nil {
			_, _ = n.Delete(ctx)
			return nil, fmt.Errorf("acquire %s: gave up: %w: %w", resource, lock.ErrOutcomeUnknown, err)
		}
	}
}

// node is the node of one Acquire.
type node struct {
	*recipe

	queue, name string
	path        string // once it is known
}

// join creates the node, unless there is one already, and waits until it is the first. The token is its czxid. The
// lease ends half a session timeout after the last look at it.
func (n *node) join(ctx context.Context) (until time.Time, token uint64, err error) {
	if n.path == "" {
		if err := n.create(ctx); err != nil {
			return until, 0, err
		}
	}
	for {
		before, err := n.before()
		if err != nil {
			return until, 0, err
		}
		if before == "" {
			break
		}
		if err := n.watch(ctx, before); err != nil {
			return until, 0, err
		}
	}
	sent := n.opt.Clock.Now()
	if _, err = n.conn.Sync(n.queue); err != nil {
		return until, 0, err
	}
	there, stat, err := n.conn.Exists(n.path)
	if err != nil {
		return until, 0, err
	}
	if ephemeral := n.mistake.flags != zk.FlagSequence; !there || ephemeral && !n.mistake.adopts &&
		stat.EphemeralOwner != n.conn.SessionID() {
		n.path = ""
		return until, 0, errors.New("the node is gone, or another session's")
	}
	return sent.Add(n.opt.SessionTimeout / 2), uint64(stat.Czxid), nil
}

func (n *node) create(ctx context.Context) error {
	names, _, err := n.conn.Children(n.queue)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		for _, path := range []string{root, n.queue} {
			if _, err := n.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return err
			}
		}
	case err != nil:
		return err
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, n.name) }); i >= 0 &&
		!n.Fixed {
		n.path = n.queue + "/" + names[i]
		return nil
	}
	flags := n.mistake.flags
	if flags == 0 {
		flags = zk.FlagEphemeral | zk.FlagSequence
	}
	n.path, err = n.conn.Create(n.queue+"/"+n.name, nil, flags, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) { // with a fixed name
		n.path = ""
		return n.watch(ctx, n.name)
	}
	if err != nil {
		n.path = ""
	}
	return err
}

// before is the node before this one in the queue, "" if it is the first.
func (n *node) before() (string, error) {
	if n.Fixed {
		return "", nil
	}
	names, _, err := n.conn.Children(n.queue)
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
	i := slices.Index(names, strings.TrimPrefix(n.path, n.queue+"/"))
	switch {
	case i < 0:
		n.path = ""
		return "", errors.New("the node is gone")
	case i == 0:
		return "", nil
	}
	return names[i-1], nil
}

// number is what ends the name of a sequential node.
func number(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// watch waits until a node is deleted, or, with the herd, until the queue changes.
func (n *node) watch(ctx context.Context, name string) error {
	var changed <-chan zk.Event
	var err error
	if n.mistake.herd {
		var names []string
		if names, _, changed, err = n.conn.ChildrenW(n.queue); err == nil && !slices.Contains(names, name) {
			return nil
		}
	} else {
		_, _, changed, err = n.conn.GetW(n.queue + "/" + name)
	}
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err != nil:
		return err
	}
	select {
	case e := <-changed:
		return e.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Extend implements [lock.Grant]. No specimen has a user that extends.
func (*node) Extend(context.Context) (until time.Time, held bool, err error) {
	return time.Time{}, false, fmt.Errorf("this lock cannot be extended: %w", errors.ErrUnsupported)
}

// Delete implements [lock.Grant]. It goes on in the background if it takes longer than a release may.
func (n *node) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.DefaultReleaseTimeout)
	defer cancel()
	type outcome struct {
		deleted bool
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		deleted, err := n.remove()
		done <- outcome{deleted, err}
	}()
	select {
	case o := <-done:
		return o.deleted, o.err
	case <-ctx.Done():
		return false, fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, ctx.Err())
	}
}

// remove deletes the node, and asks again for as long as the connection is not closed.
func (n *node) remove() (deleted bool, err error) {
	path, asked := n.path, false
	for idle := 0; idle < 2; {
		if path == "" && !n.Fixed { // it may have been created
			_, err = n.conn.Sync(root)
			var names []string
			if err == nil {
				names, _, err = n.conn.Children(n.queue)
			}
			if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, n.name) }); i >= 0 {
				path = n.queue + "/" + names[i]
			}
		}
		if err == nil || path != "" {
			if path == "" {
				return false, nil
			}
			err = n.conn.Delete(path, -1)
		}
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNoNode):
			return asked, nil
		}
		asked = true
		if slept := n.opt.Clock.Sleep(context.Background(), n.opt.Retry); slept != nil { // its process has ended
			return false, slept
		}
		idle++
		if n.conn.State() != zk.StateDisconnected {
			idle = 0
		}
	}
	return false, fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}
