package zklock

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Queue is the node of a resource: its children are the queue.
func (o Options) Queue(resource string) string {
	name := url.PathEscape(resource)
	if name == "." || name == ".." { // no names of nodes
		name = strings.ReplaceAll(name, ".", "%2E")
	}
	return o.withDefaults().Prefix + "/" + name
}

// errPlaceLost is the end of the session, or of the node, while its client waits.
var errPlaceLost = errors.New("the place in the queue is lost: its session has ended, or its node was deleted")

// place is a place in the queue of a resource: a node, or a request for one.
type place struct {
	*Lock

	queue   string          // the path of the queue
	name    string          // of the node, without its number
	node    string          // the name with the number, once it is known
	czxid   int64           // once it is known
	session int64           // that owns the node
	gone    <-chan zk.Event // tells once when the node is deleted, or the session has ended

	mu      sync.Mutex
	renewed time.Time // when the last renewal was sent that was answered
	sure    time.Time // the session lasts for its timeout from then on, at least
	probe   *probe    // the renewal under way
	asked   bool      // a release asked for the node's end, and the outcome of that is unknown
	over    bool      // the lease ended otherwise, and the node is deleted for that
}

// probe is a renewal. Only one is under way at a time, since it cannot be cancelled.
type probe struct {
	done chan struct{}
	held bool
	err  error
}

// newPlace is a place with an id of its own.
func (l *Lock) newPlace(queue string) (*place, error) {
	var id [16]byte
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.ReadFull(l.opt.Entropy, id[:]); err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	return &place{Lock: l, queue: queue, name: namePrefix + hex.EncodeToString(id[:]) + "."}, nil
}

// namePrefix begins the names of the nodes in a queue. An id, a point and the number follow.
const namePrefix = "q-"

// number is the number of a node in a queue. It is that of a signed integer of 32 bits, and turns negative after 2^31
// nodes (F61).
func number(node string) (n int32, ok bool) {
	i := strings.LastIndexByte(node, '.')
	if i < 0 || !strings.HasPrefix(node, namePrefix) {
		return 0, false
	}
	v, err := strconv.ParseInt(node[i+1:], 10, 32)
	return int32(v), err == nil
}

// before reports whether a number was given before another one, also where they have turned negative meanwhile.
func before(a, b int32) bool { return int32(uint32(a)-uint32(b)) < 0 }

func (p *place) path() string { return p.queue + "/" + p.node }

// enter creates the node, after those above it where they are missing.
func (p *place) enter(ctx context.Context) error {
	for {
		sent := p.opt.Clock.Now()
		path, err := call(ctx, func() (string, error) {
			return p.conn.Create(p.queue+"/"+p.name, nil, zk.FlagEphemeral|zk.FlagSequence, p.opt.ACL)
		})
		switch {
		case err == nil:
			p.node = path[len(p.queue)+1:]
		case errors.Is(err, zk.ErrNoNode):
			if err = p.prepare(ctx); err == nil {
				continue
			}
			return err
		case refused(err) || ctx.Err() != nil:
			return outcome(err)
		default: // it may have been created, or not
			if err := p.find(ctx); err != nil {
				return outcome(err)
			}
			if p.node == "" {
				continue
			}
		}
		ours, err := p.identify(ctx)
		switch {
		case err != nil:
			return outcome(err)
		case !ours:
			return errPlaceLost
		}
		p.took(trip{sent, p.opt.Clock.Now(), p.session})
		return nil
	}
}

// prepare creates the node of the queue, and those above it.
func (p *place) prepare(ctx context.Context) error {
	above := p.opt.Prefix
	for i := 1; i <= len(above); i++ {
		if i < len(above) && above[i] != '/' {
			continue
		}
		if err := p.make(ctx, func() (string, error) { return p.conn.Create(above[:i], nil, 0, p.opt.ACL) }); err != nil {
			return err
		}
	}
	return p.make(ctx, func() (string, error) { return p.conn.CreateContainer(p.queue, nil, zk.FlagContainer, p.opt.ACL) })
}

// make creates a node that may be there already, or that another client may create.
func (p *place) make(ctx context.Context, create func() (string, error)) error {
	return p.again(ctx, preparing, func() error {
		_, err := call(ctx, create)
		if errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		return err
	})
}

// activity is what a place does, in a goroutine of its own at most.
type activity int

const (
	preparing activity = iota
	searching
	identifying
	waiting
	releasing
	leaving
	clearing
)

// retry is the time between two tries of an activity. Those that have lost one connection do not all ask at one
// instant.
func (p *place) retry(a activity) time.Duration {
	return p.opt.Retry + p.opt.Retry/64*time.Duration(a)
}

// again repeats a request that fails because there is no connection, until ctx ends, or the connection was closed: a
// closed one stays disconnected, and one that is not connects again at once.
func (p *place) again(ctx context.Context, a activity, request func() error) error {
	for idle := 0; ; {
		err := request()
		if err == nil || final(err) || ctx.Err() != nil || p.opt.Clock.Sleep(ctx, p.retry(a)) != nil {
			return err
		}
		idle++
		if p.conn.State() != zk.StateDisconnected {
			idle = 0
		}
		if idle > 1 {
			return err
		}
	}
}

// find is search, until it is answered, or ctx ends.
func (p *place) find(ctx context.Context) error {
	return p.again(ctx, searching, func() error { return p.search(ctx) })
}

// search looks for the node whose creation was not answered. A sync before it sees to it that the answer includes the
// creation: requests of a session are executed in their order, and none that was sent over an earlier connection is
// executed once the session has moved.
func (p *place) search(ctx context.Context) error {
	names, err := p.children(ctx)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, p.name) {
			p.node = name
		}
	}
	return err
}

// children are the names of the nodes in the queue, as of now.
func (p *place) children(ctx context.Context) ([]string, error) {
	return call(ctx, func() ([]string, error) {
		if _, err := p.conn.Sync(p.queue); err != nil {
			return nil, err
		}
		names, _, err := p.conn.Children(p.queue)
		return names, err
	})
}

// identify looks whether the present session owns the node, and takes note of when it was created.
func (p *place) identify(ctx context.Context) (ours bool, err error) {
	err = p.again(ctx, identifying, func() error {
		answer, err := call(ctx, func() (watched, error) {
			_, stat, gone, err := p.conn.ExistsW(p.path())
			return watched{stat, gone}, err
		})
		if err == nil {
			p.czxid, p.session, p.gone = answer.stat.Czxid, answer.stat.EphemeralOwner, answer.gone
			ours = p.owned()
		}
		return err
	})
	return ours, err
}

// watched is what is known of a node, and what tells of its end.
type watched struct {
	stat *zk.Stat
	gone <-chan zk.Event
}

// look finds the node before this one. It is empty for the first one.
func (p *place) look(ctx context.Context) (previous string, err error) {
	names, err := call(ctx, func() ([]string, error) {
		names, _, err := p.conn.Children(p.queue)
		return names, err
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "", errPlaceLost
	case err != nil:
		return "", fmt.Errorf("look at the queue: %w", err)
	}
	own, _ := number(p.node)
	there, latest := false, int32(0)
	for _, name := range names {
		n, ok := number(name)
		switch {
		case name == p.node:
			there = true
		case ok && before(n, own) && (previous == "" || before(latest, n)):
			previous, latest = name, n
		}
	}
	if !there {
		return "", errPlaceLost
	}
	return previous, nil
}

// watch waits until a node of the queue is deleted. It may return before: the caller looks again.
func (p *place) watch(ctx context.Context, node string) error {
	changed, err := call(ctx, func() (<-chan zk.Event, error) {
		_, _, changed, err := p.conn.GetW(p.queue + "/" + node)
		return changed, err
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err != nil:
		return fmt.Errorf("watch the place before: %w", err)
	}
	select {
	case <-changed:
		return nil
	case <-p.gone:
		return nil // the end of the session ends all watches at once
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renew asks whether the node is still there, and so the session: the leader, by a sync, and then the connected server.
func (p *place) renew(ctx context.Context) (held bool, err error) {
	p.mu.Lock()
	now := p.probe
	if now == nil {
		now = &probe{done: make(chan struct{})}
		p.probe = now
		go p.ask(now)
	}
	p.mu.Unlock()
	select {
	case <-now.done:
		return now.held, now.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// ask sends a renewal, and takes note of its answer. Two of them are some time apart.
func (p *place) ask(now *probe) {
	p.mu.Lock()
	pause := p.opt.pause() - p.opt.Clock.Now().Sub(p.renewed)
	p.mu.Unlock()
	if pause > 0 {
		_ = p.opt.Clock.Sleep(context.Background(), pause)
	}
	sent := p.opt.Clock.Now()
	_, err := p.conn.Sync(p.queue)
	if err == nil {
		var stat *zk.Stat
		if _, stat, err = p.conn.Exists(p.path()); err == nil {
			now.held = stat.Czxid == p.czxid && p.czxid != 0
		}
	}
	if now.held {
		sure := p.took(trip{sent, p.opt.Clock.Now(), p.session})
		p.mu.Lock()
		p.renewed, p.sure = sent, sure
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now.err, p.probe = err, nil
	close(now.done)
}

// trip is a request that went to the leader and was answered, of a session.
type trip struct {
	sent, answered time.Time
	session        int64
}

// took takes note of a trip, and returns since when the session lasts for its timeout at least. It is zero if that is
// not known.
//
// That a request is answered does not say that the leader has heard of the session: the connected server reports that
// when the leader asks, twice a tick. So it takes three trips. The first one is heard by the server. The second is sent
// so long after the answer that the leader has asked meanwhile, and what it has asked has arrived before the answer,
// since the leader's messages to a server stay in order. So the report was sent before the third, which follows that
// answer, and the leader has it when it answers the third. If the session goes on then, it does so for its timeout from
// the report on, which is later than the first trip. A server that lets a client connect asks the leader, too.
func (l *Lock) took(third trip) (since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trips = slices.DeleteFunc(l.trips, func(t trip) bool {
		return t.session != third.session || third.sent.Sub(t.sent) > l.opt.SessionTimeout
	})
	for i, second := range slices.Backward(l.trips) {
		if second.answered.After(third.sent) {
			continue
		}
		for _, first := range slices.Backward(l.trips[:i]) {
			if !first.answered.Add(l.opt.report()).After(second.sent) {
				since = first.sent
				break
			}
		}
		break
	}
	l.trips = append(l.trips, third)
	if d := l.opt.Dialer; d != nil {
		// else it was answered over an earlier connection
		if began := d.since(); began.After(since) && !began.After(third.sent) {
			since = began
		}
	}
	return since
}

// until is the end of the lease. It is zero if the client knows nothing of the session.
func (p *place) until() time.Time {
	end := p.earliestEnd()
	p.mu.Lock()
	defer p.mu.Unlock()
	if nominal := p.renewed.Add(p.opt.lease()); nominal.Before(end) {
		return nominal
	}
	return end
}

// earliestEnd is when the session may end, as far as the client knows. It is zero if it knows nothing.
func (p *place) earliestEnd() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sure.IsZero() {
		return time.Time{}
	}
	return p.sure.Add(p.opt.SessionTimeout)
}

// end is when the session has ended, if it was not heard of since the last renewal.
func (p *place) end() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed.Add(p.opt.SessionTimeout)
}

// leave gives up the place, or what may be one, also after the end of ctx (F29, F60). It asks once, if there is a
// connection, and goes on in the background. It returns err, and adds its own failure.
func (p *place) leave(ctx context.Context, err error) error {
	ctx, cancel := detached(ctx, p.opt.ReleaseTimeout)
	defer cancel()
	once := p.tryRemove
	if p.conn.State() != zk.StateHasSession {
		once = func(context.Context) (bool, error) { return false, errDisconnected }
	}
	if _, failure := p.remove(ctx, once); failure != nil {
		return fmt.Errorf("%w; giving up the place is not over yet, and others may have to wait for it: %w", err, failure)
	}
	return err
}

var errDisconnected = errors.New("there is no connection")

// remove deletes the node in the way that is given. If that fails it goes on in the background, until it is clear that
// there is no node.
func (p *place) remove(ctx context.Context, way func(context.Context) (bool, error)) (deleted bool, err error) {
	if deleted, err = way(ctx); err != nil && !refused(err) {
		go func() { _, _ = p.insist(context.WithoutCancel(ctx), leaving) }()
	}
	return deleted, outcome(err)
}

// insist deletes the node, and repeats that until it is answered, or ctx ends.
func (p *place) insist(ctx context.Context, a activity) (deleted bool, err error) {
	err = p.again(ctx, a, func() error {
		var err error
		deleted, err = p.tryRemove(ctx)
		return err
	})
	return deleted, err
}

// tryRemove deletes the node. deleted is false if it was not there any more, although no release of this lease has
// deleted it.
func (p *place) tryRemove(ctx context.Context) (deleted bool, err error) {
	if p.node == "" {
		if err := p.search(ctx); err != nil || p.node == "" {
			return false, err
		}
	}
	_, err = call(ctx, func() (struct{}, error) { return struct{}{}, p.conn.Delete(p.path(), -1) })
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, zk.ErrNoNode):
		return p.released(false) && p.owned(), nil
	}
	p.released(true)
	return false, err
}

// released takes note of a deletion with an unknown outcome, and reports whether it is a release that has deleted the
// node.
func (p *place) released(unknown bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = p.asked || unknown
	return p.asked && !p.over
}

// lapse takes note that the lease has ended without a release.
func (p *place) lapse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// owned reports whether the session of the node goes on, so that only a request of this client, or of an administrator,
// can have deleted it.
func (p *place) owned() bool { return p.session != 0 && p.session == p.conn.SessionID() }
