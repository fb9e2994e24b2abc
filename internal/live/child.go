//go:build linux

package live

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"locksim/faults"
	"locksim/internal/child"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/store"
)

// asClient makes a program the process of a client, in its environment.
const asClient = "LOCKSIM_LIVE_CLIENT"

// Child makes this program the process of a client if its environment says that it is one. It then returns true when
// the program has to end. locks are those that the program offers in addition to the built-in ones, as for app.Main.
// Call it before anything else.
func Child(locks ...subject.Lock) (ended bool) {
	if os.Getenv(asClient) == "" {
		return false
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // they are for the parent, which ends its processes
	in, out := child.Parent()
	c := &client{locks: locks, lockers: map[int]lock.Locker{}, leases: map[int]lock.Lease{},
		ends: map[int]context.CancelFunc{}, data: map[int]subject.Store{},
		gone: map[<-chan struct{}]int64{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	c.link = newLink(child.NewWriter(out), c.serve)
	c.link.read(child.NewReader(in))
	c.end()
	return true
}

// client is the process of a client.
type client struct {
	locks []subject.Lock
	link  *link
	ctx   context.Context // ends when the parent closes the run
	end   context.CancelFunc

	hello hello
	lock  subject.Lock
	clock *clock
	wall  *clock
	store subject.Store

	mu      sync.Mutex
	table   table
	changed chan struct{}     // closed when there is another table
	known   map[string]string // the server of each address that a lock was given
	last    int
	lockers map[int]lock.Locker
	leases  map[int]lock.Lease
	ends    map[int]context.CancelFunc // of the contexts of the Acquires that were granted, by lease
	data    map[int]subject.Store
	closers []func()
	pools   []faults.Pool
	gone    map[<-chan struct{}]int64 // when the process saw what tells of a loss closed

	heard atomic.Int64 // when a connection last had something for the lock
}

// within is a context for a request, with the deadline that its caller has.
func (d deadline) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, time.Now().Add(time.Duration(int64(d)-monotonic())))
}

// serve does what the parent asks for.
func (c *client) serve(ctx context.Context, f frame) (any, error) {
	switch f.Kind {
	case askHello:
		return serveAs(f, c.begin)
	case askLocker:
		return serveAs(f, c.newLocker)
	case askAs:
		return serveAs(f, c.as)
	case askAcquire:
		return serveAs(f, func(r acquire) (leaseInfo, error) { return c.acquire(ctx, r) })
	case endAcquire:
		return serveAs(f, func(r leaseCall) (any, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ends[r.Lease]()
			return nil, nil
		})
	case askRelease:
		return serveAs(f, func(r leaseCall) (any, error) {
			ctx, cancel := r.Deadline.within(ctx)
			defer cancel()
			return nil, c.lease(r.Lease).Release(ctx)
		})
	case askExtend:
		return serveAs(f, func(r leaseCall) (until, error) {
			ctx, cancel := r.Deadline.within(ctx)
			defer cancel()
			l := c.lease(r.Lease)
			err := l.(lock.Extender).Extend(ctx)
			return until{r.Lease, nanos(l.Until())}, err
		})
	case askUntil:
		return serveAs(f, func(r leaseCall) (until, error) { return until{r.Lease, nanos(c.lease(r.Lease).Until())}, nil })
	case askSleep:
		return serveAs(f, func(r sleep) (any, error) {
			ctx, cancel := r.Deadline.within(ctx)
			defer cancel()
			return nil, c.clock.Sleep(ctx, time.Duration(r.For))
		})
	case askStore:
		return serveAs(f, func(r storeCall) (storeAnswer, error) {
			ctx, cancel := r.Deadline.within(ctx)
			defer cancel()
			saw, outcome, err := c.storeOf(r.Data).Do(ctx, r.Op, r.Grant)
			return storeAnswer{saw, outcome}, err
		})
	case askOpenData:
		return serveAs(f, func(r newLocker) (dataInfo, error) {
			s, err := c.lock.Data.Open(c.env(r.Identity), r.Mode)
			if err != nil {
				return dataInfo{}, err
			}
			return dataInfo{keep(c, c.data, s)}, nil
		})
	case askWithin:
		return serveAs(f, func(r within) (dataInfo, error) {
			return dataInfo{keep(c, c.data, c.lock.Data.Within(c.storeOf(r.Data), c.lease(r.Lease)))}, nil
		})
	case askClock:
		return serveAs(f, func(r reading) (any, error) { c.clock.set(r); c.wall.set(r); return nil, nil })
	case askTable:
		return serveAs(f, func(t table) (any, error) { c.setTable(t); return nil, nil })
	case askExhaust:
		return serveAs(f, func(sleep) (exhausted, error) { return c.exhaust(ctx) })
	case askClose:
		c.close()
		return nil, nil
	}
	return nil, fmt.Errorf("the process of a client does not know %q", f.Kind)
}

// serveAs calls do with the body of a request.
func serveAs[Q, A any](f frame, do func(Q) (A, error)) (any, error) {
	q, err := decode[Q](f)
	if err != nil {
		return nil, err
	}
	return do(q)
}

func (c *client) begin(h hello) (any, error) {
	l, err := redislocks.Find(h.Lock, c.locks)
	if err != nil {
		return nil, err
	}
	c.hello, c.lock = h, l
	c.clock, c.wall = newClock(h.Clock), newClock(h.Clock)
	c.wall.wall, c.wall.looked = true, sync.OnceFunc(func() { c.link.notify(tellWall, nil) })
	c.known, c.changed = map[string]string{}, make(chan struct{})
	c.setTable(h.Table)
	c.store = play.StoreOver(store.NewClient(c.env(h.Name)))
	dialEverywhere(c.env(h.Name).Dial)
	return nil, nil
}

// setTable says where the servers are from now on.
func (c *client) setTable(t table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Version < c.table.Version {
		return
	}
	c.table = t
	close(c.changed)
	c.changed = make(chan struct{})
	for server, address := range t.Address {
		c.known[address] = server
	}
	maps.Copy(c.known, t.Told)
}

// keep stores something under a new number.
func keep[T any](c *client, in map[int]T, v T) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	in[c.last] = v
	return c.last
}

func (c *client) env(identity string) childEnv {
	return childEnv{c, subject.Streams(chance{c}), identity}
}

func (c *client) newLocker(r newLocker) (lockerInfo, error) {
	l, err := c.lock.New(c.env(r.Identity))
	if err != nil {
		return lockerInfo{}, err
	}
	return c.keepLocker(l), nil
}

func (c *client) keepLocker(l lock.Locker) lockerInfo {
	_, tries := l.(lock.Trier)
	_, owned := l.(lock.Owned)
	return lockerInfo{keep(c, c.lockers, l), tries, owned}
}

func (c *client) locker(id int) lock.Locker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lockers[id]
}

func (c *client) lease(id int) lock.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leases[id]
}

// storeOf is the store s0, or data of the lock.
func (c *client) storeOf(id int) subject.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == 0 {
		return c.store
	}
	return c.data[id]
}

func (c *client) as(r asOwner) (lockerInfo, error) {
	return c.keepLocker(c.locker(r.Locker).(lock.Owned).As(r.Owner)), nil
}

// acquire asks for the lock. The context of the call lives on with the lease until that of the parent ends: see
// endAcquire.
func (c *client) acquire(call context.Context, r acquire) (leaseInfo, error) {
	within, done := r.Deadline.within(c.ctx)
	ctx, end := context.WithCancel(within)
	context.AfterFunc(ctx, done)
	if call.Err() != nil {
		end()
	}
	detach := context.AfterFunc(call, end)
	ask := c.locker(r.Locker).Acquire
	if r.Try {
		ask = c.locker(r.Locker).(lock.Trier).TryAcquire
	}
	l, err := ask(ctx, r.Resource)
	detach() // else the end of this call is that of the lease
	if call.Err() != nil || err != nil {
		end()
	}
	if err != nil {
		return leaseInfo{}, err
	}
	if l == nil {
		panic(fmt.Sprintf("the Acquire of lock %s returned neither a lease nor an error", c.lock.Name))
	}
	info := leaseInfo{ID: keep(c, c.leases, l), Token: l.Token(), Until: nanos(l.Until()), Context: l.Context() != nil,
		Lost: isClosed(l.Lost())}
	info.LostBefore = info.Lost && c.goneBefore(l.Lost())
	_, info.Extends = l.(lock.Extender)
	c.mu.Lock()
	c.ends[info.ID] = end
	c.mu.Unlock()
	go c.watch(info, l)
	return info, nil
}

// looked is how long after an answer a lock looks at what ends its leases at the latest, on a machine with other work
// to do.
const looked = 100 * time.Millisecond

// goneBefore says that a loss was known before the last answer came, by a time that the scheduler of the machine does
// not explain: a lock that had looked after that answer knew of it. Only a loss is known that an earlier lease has too,
// such as one of the same session: of any other the process hears with the lease.
func (c *client) goneBefore(lost <-chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.gone[lost]
	return known && at+int64(looked) < c.heard.Load()
}

// between is the time between two looks at the end of a lease, which a renewal moves.
const between = time.Millisecond

// watch tells the parent of everything that becomes of a lease.
func (c *client) watch(info leaseInfo, l lock.Lease) {
	if info.Context {
		context.AfterFunc(l.Context(), func() {
			c.link.notify(tellContext, contextEnded{info.ID, problemOf(context.Cause(l.Context()))})
		})
	}
	moves := time.NewTicker(between)
	defer moves.Stop()
	lost := l.Lost()
	for end := info.Until; ; {
		select {
		case <-c.ctx.Done():
			return
		case <-lost:
			c.mu.Lock()
			if _, known := c.gone[lost]; !known {
				c.gone[lost] = monotonic()
			}
			c.mu.Unlock()
			c.link.notify(tellLost, leaseCall{Lease: info.ID})
			lost = nil
		case <-moves.C:
			if now := nanos(l.Until()); now != end {
				end = now
				c.link.notify(tellUntil, until{info.ID, now})
			}
		}
	}
}

// nanos is an instant of the client's clock as a number, 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// instant is the reverse.
func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// exhaust takes every connection of the pools until ctx ends. The parent is told when it has begun.
func (c *client) exhaust(ctx context.Context) (exhausted, error) {
	c.mu.Lock()
	pools := slices.Clone(c.pools)
	c.mu.Unlock()
	all := 0
	var holders sync.WaitGroup
	for _, p := range pools {
		for range p.Size() {
			all++
			holders.Go(func() {
				for ctx.Err() == nil {
					_ = p.Take(ctx) // without a connection it tries again
					select {
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond):
					}
				}
			})
		}
	}
	c.link.notify(tellTaken, exhausted{all})
	holders.Wait()
	return exhausted{all}, nil
}

func (c *client) close() {
	c.mu.Lock()
	closers := c.closers
	c.closers = nil
	c.mu.Unlock()
	c.end()
	for _, f := range closers {
		f()
	}
}

// childEnv is the environment of a lock in the process of a client.
type childEnv struct {
	*client
	subject.Chance
	identity string
}

// chance is what is random in the process.
type chance struct{ *client }

var (
	_ subject.Env              = childEnv{}
	_ redisclient.Unrepeatable = childEnv{}
)

func (e childEnv) Name() string             { return e.hello.Name }
func (e childEnv) Identity() string         { return e.identity }
func (e childEnv) Context() context.Context { return e.ctx }
func (e childEnv) Clock() lock.Clock        { return e.clock }
func (e childEnv) WallClock() lock.Clock    { return e.wall }
func (e childEnv) Spec() file.LockSpec      { return e.hello.Spec }

func (e chance) Source(use string) rand.Source {
	return sim.SourceOf(e.hello.Seed, e.hello.Name, e.hello.Incarnation, use)
}

func (e chance) Entropy(use string) io.Reader {
	return entropy(e.hello.Seed, e.hello.Name, e.hello.Incarnation, use)
}

func (e childEnv) Address(server string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if address, ok := e.table.Address[server]; ok {
		return address
	}
	return server
}

// Dial dials the proxy that leads to a server at present, or waits while the client is cut off from it.
func (e childEnv) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := dial(ctx, network, addr, func() (table, string, <-chan struct{}) {
		e.mu.Lock()
		defer e.mu.Unlock()
		server, ok := e.known[addr]
		if !ok {
			server, _, _ = strings.Cut(addr, ":")
		}
		return e.table, server, e.changed
	})
	if tcp, ok := conn.(*net.TCPConn); ok {
		return heardConn{tcp, &e.heard}, err
	}
	return conn, err
}

// heardConn notes when it had something for its reader.
type heardConn struct {
	*net.TCPConn
	heard *atomic.Int64
}

func (c heardConn) Read(b []byte) (n int, err error) {
	n, err = c.TCPConn.Read(b)
	if n > 0 {
		c.heard.Store(monotonic())
	}
	return n, err
}

// Unrepeatable implements [redisclient.Unrepeatable].
func (childEnv) Unrepeatable() {}

// Point waits until the parent lets the client go on.
func (e childEnv) Point(label string) error {
	_, err := e.link.call(e.ctx, askPoint, point{label}, nil)
	return err
}

func (e childEnv) OnEnd(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closers = append(e.closers, f)
}

// AddPool registers a pool of connections, which a fault may exhaust.
func (e childEnv) AddPool(p faults.Pool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pools = append(e.pools, p)
}
