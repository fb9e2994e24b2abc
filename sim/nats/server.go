package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// Port is that of the server, and Node its name.
const (
	Port = 4222
	Node = "n0"
)

// Bucket is the bucket of key values that holds the locks. It exists before a run begins, as an operator has made it.
const Bucket = "locks"

// Servers are so many servers, of which there can be one, with the bucket in a place. It is a [sim.Kind].
type Servers struct {
	Count int
	In    Storage
	// Protected is how the bucket has the protected data; nil if it has none.
	Protected *Protected
}

// Build implements [sim.Kind].
func (n Servers) Build(b *sim.Builder) {
	if n.Count != 1 {
		b.Fail(fmt.Errorf("the world has %d servers of NATS: there can be one", n.Count))
		return
	}
	m := &machine{in: n.In, protected: n.Protected, keys: map[string]string{}, ends: map[string]time.Time{}}
	b.Add(Node, Port, func(node *sim.Node) sim.Server {
		s, err := newNATS(node, m)
		if err != nil {
			node.Fail(err)
			return refusing{}
		}
		return s
	})
}

// refusing stands for a server that could not be started.
type refusing struct{}

func (refusing) Accept(*sim.ServerConn) sim.Session { return nil }

// Storage is where the bucket is.
type Storage string

// The storages.
const (
	InMemory Storage = "memory" // gone after a crash
	InFiles  Storage = "files"  // synchronised every two minutes, as by default
	InSync   Storage = "sync"   // in files that are synchronised before an answer: sync_interval: always
)

// machine is that of the server. It outlives its process.
type machine struct {
	in    Storage
	disk  sim.Disk
	lives int

	protected *Protected
	keys      map[string]string    // the values that are there
	ends      map[string]time.Time // when the keys that are there end, as far as is known; 0 for never
}

// natsServer is nats-server itself, in this process. Its goroutines and timers are those of the bubble: faults of the
// node's clock do not reach it. Each life of it has a folder of its own.
type natsServer struct {
	node   *sim.Node
	on     *machine
	real   *server.Server
	folder string
	stop   chan struct{} // closed when the server ends
	over   bool          // it has ended

	handed time.Time // when it was last handed something
	turns  []turn    // what it is to be handed next: see inTurn

	last    *sim.ServerConn // by which its goroutines can ask for the world's goroutine
	watched []string
	deletes map[string]string        // who last asked to delete a key
	writes  map[string]asked         // of the protected data, by what they store
	ttls    map[string]time.Duration // how long a value is to stay, as was last asked; 0 for ever

	mu      sync.Mutex
	found   []jetstream.KeyValueEntry // in the bucket at the start
	changes []jetstream.KeyValueEntry // that have not been told
	err     error                     // why there is no bucket
}

func newNATS(node *sim.Node, m *machine) (*natsServer, error) {
	forgetTimers()
	folder, err := m.open()
	if err != nil {
		return nil, err
	}
	o := options(folder, m.in)
	// Its pings to clients come at instants of its own, which no seed decides.
	o.DontListen, o.DisableShortFirstPing, o.PingInterval = true, true, 365*24*time.Hour
	real, err := server.NewServer(o)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	s := &natsServer{node: node, on: m, real: real, folder: folder, stop: make(chan struct{}),
		deletes: map[string]string{}, writes: map[string]asked{}, ttls: map[string]time.Duration{}}
	atsTime.Store(time.Now().UnixNano())
	go keepTime(s.stop)
	go real.Start()
	go s.operate()
	if m.lives++; m.lives > 1 {
		node.After(time.Microsecond, s.tellFound)
	}
	return s, nil
}

// open makes the folder of a server that starts.
func (m *machine) open() (string, error) {
	if m.in == InMemory {
		return os.MkdirTemp("", "locksim-nats-")
	}
	return m.disk.Open()
}

// options are those of a server in both worlds.
func options(folder string, in Storage) *server.Options {
	return &server.Options{ServerName: Node, JetStream: true, StoreDir: folder, NoLog: true, NoSigs: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 64 << 20, SyncAlways: in == InSync}
}

func makeBucket(ctx context.Context, nc *nats.Conn, in Storage) (jetstream.KeyValue, error) {
	kind := jetstream.FileStorage
	if in == InMemory {
		kind = jetstream.MemoryStorage
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	// Where a key has expired there is a marker, for an hour. One that ends between the two requests of a Create, which
	// asks what is there when its key was not free, lets that say that the key exists.
	return js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: Bucket, Storage: kind, LimitMarkerTTL: time.Hour})
}

// forgetTimers empties every sync.Pool of the program: it drops its contents after two collections. The client and the
// server keep timers in some, and one that was made in the bubble of an earlier run would end the program.
func forgetTimers() {
	runtime.GC()
	runtime.GC()
}

// operate makes the bucket as soon as the server takes requests, and follows its changes. Where it cannot, the next
// connection ends the run with the reason.
func (s *natsServer) operate() {
	if err := s.follow(); err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
}

func (s *natsServer) follow() error {
	if !s.real.ReadyForConnections(10 * time.Second) {
		return errors.New("nats-server takes no connections")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s.real), nats.Name("operator"), nats.NoReconnect())
	if err != nil {
		return fmt.Errorf("the operator of NATS cannot connect: %w", err)
	}
	defer nc.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	kv, err := makeBucket(ctx, nc, s.on.in)
	if err != nil {
		return fmt.Errorf("the bucket of NATS cannot be made: %w", err)
	}
	if s.on.lives == 1 {
		if err := s.on.disk.Settle(); err != nil { // it was made long before the run
			return fmt.Errorf("the bucket of NATS cannot be read: %w", err)
		}
	}
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("the bucket of NATS cannot be watched: %w", err)
	}
	closed := nc.StatusChanged(nats.CLOSED)
	for old := true; ; {
		select {
		case e := <-w.Updates():
			switch {
			case e == nil: // it has told of all that was there
				old = false
			case old:
				s.mu.Lock()
				s.found = append(s.found, e)
				s.mu.Unlock()
			default:
				s.changed(e)
			}
		case <-closed:
			return nil
		}
	}
}

// changed notes a change of a key, which the world's goroutine tells.
func (s *natsServer) changed(e jetstream.KeyValueEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes = append(s.changes, e); len(s.changes) == 1 && s.last != nil {
		s.last.Notify(s.tell)
	}
}

// tellFound tells which keys there are after a restart, of those that were there before it or are now.
func (s *natsServer) tellFound() {
	s.mu.Lock()
	now := map[string]string{}
	for _, e := range s.found {
		if e.Operation() == jetstream.KeyValuePut {
			now[e.Key()] = string(e.Value())
		}
	}
	s.mu.Unlock()
	before := s.on.keys
	defer func() { s.on.keys = now }()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, ok := now[key]; !ok {
			s.note(trace.KeyChange{Key: key, Change: trace.KeyRestored, Left: s.on.left(key)}, key+" is not there any more")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		c := trace.KeyChange{Key: key, Value: now[key], Change: trace.KeyRestored, Left: s.on.left(key)}
		_, c.By, _ = strings.Cut(c.Value, "@")
		s.note(c, fmt.Sprintf("%s = %s is there again", key, now[key]))
	}
}

func (s *natsServer) note(c trace.KeyChange, said string) {
	c.Step = s.node.Record(c.By, trace.Exec{Request: trace.Text(said)})
	s.node.KeyChanged(c)
}

// tell tells the ground truth of the changes. A value says which client has stored it: see [Signed]. A marker that
// purges a key comes from the server, when the key has expired: no lock here purges.
func (s *natsServer) tell() {
	s.mu.Lock()
	changes := s.changes
	s.changes = nil
	s.mu.Unlock()
	if s.over {
		return
	}
	for _, e := range changes {
		c := trace.KeyChange{Key: e.Key(), Change: trace.KeySet, Request: "put", Left: s.on.left(e.Key())}
		said := fmt.Sprintf("%s = %s, revision %d", e.Key(), e.Value(), e.Revision())
		switch e.Operation() {
		case jetstream.KeyValuePut:
			c.Value = string(e.Value())
			_, c.By, _ = strings.Cut(c.Value, "@")
			s.stored(c.Value)
		case jetstream.KeyValueDelete:
			c.Request = "delete"
			c.By, c.Change, said = s.deletes[e.Key()], trace.KeyDeleted, fmt.Sprintf("%s is deleted, revision %d", e.Key(),
				e.Revision())
		case jetstream.KeyValuePurge:
			c.Change, said = trace.KeyExpired, fmt.Sprintf("%s has expired, revision %d", e.Key(), e.Revision())
		}
		if c.Asked = c.By; c.Asked == "" {
			c.Request = ""
		}
		delete(s.on.keys, c.Key)
		delete(s.on.ends, c.Key)
		if c.Change == trace.KeySet {
			s.on.keys[c.Key] = c.Value
			if ttl, known := s.ttls[c.Value]; known && ttl > 0 {
				s.on.ends[c.Key] = e.Created().Add(ttl)
			} else if known {
				s.on.ends[c.Key] = time.Time{}
			}
		}
		s.note(c, said)
	}
}

// left is the time that a key has left by the server's clock.
func (m *machine) left(key string) trace.TimeLeft {
	_, there := m.keys[key]
	end, known := m.ends[key]
	switch {
	case !there:
		return trace.TimeLeft{End: trace.EndNone}
	case !known:
		return trace.TimeLeft{}
	case end.IsZero():
		return trace.TimeLeft{End: trace.EndNever}
	}
	return trace.LeftFor(time.Until(end))
}

// Crash implements [sim.Crasher].
func (s *natsServer) Crash(mode faults.CrashMode) {
	if s.on.in != InMemory {
		if err := s.on.disk.Crash(mode); err != nil {
			s.node.Fail(err)
		}
	}
	s.Close()
}

// Kept implements [sim.Keeper].
func (s *natsServer) Kept() string {
	if s.on.in == InMemory {
		return "the bucket was in memory"
	}
	return s.on.disk.Kept()
}

// Accept implements [sim.Server].
func (s *natsServer) Accept(c *sim.ServerConn) sim.Session {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		s.node.Fail(err)
		return nil
	}
	pipe, err := s.real.InProcessConn()
	if err != nil {
		return nil
	}
	s.last = c
	n := &session{server: s, conn: c, pending: map[string]trace.Decision{}, pipe: pipe, more: make(chan struct{}, 1),
		gone: make(chan struct{})}
	go n.read()
	go n.write()
	return n
}

// turn is what a client has sent, or nil for the end of its connection.
type turn struct {
	of *session
	b  []byte
}

// inTurn hands something to the server. It is at rest whenever virtual time moves on, so what comes in one instant,
// such as at the end of a stall, is handed on a microsecond apart: otherwise its goroutines would race for the stream.
func (s *natsServer) inTurn(t turn) {
	now := time.Now()
	if s.over || len(s.turns) == 0 && !now.Equal(s.handed) {
		s.handed = now
		t.of.hand(t.b)
		return
	}
	if s.turns = append(s.turns, t); len(s.turns) == 1 {
		s.node.After(time.Microsecond, s.nextTurn)
	}
}

func (s *natsServer) nextTurn() {
	if s.over {
		return
	}
	t := s.turns[0]
	s.turns, s.handed = s.turns[1:], time.Now()
	t.of.hand(t.b)
	if len(s.turns) > 0 {
		s.node.After(time.Microsecond, s.nextTurn)
	}
}

// WatchKeys implements [sim.KeyWatcher]. All keys of the bucket are told.
func (s *natsServer) WatchKeys(keys []string) { s.watched = append(s.watched, keys...) }

// Describe implements [sim.Describer].
func (s *natsServer) Describe(_ sim.Direction, b []byte) trace.Content { return described(b) }

// JoinWrites implements [sim.Joiner].
func (s *natsServer) JoinWrites() {}

// Close implements [sim.Closer]. The world does not wait for the goroutines of the server.
func (s *natsServer) Close() {
	if s.over {
		return
	}
	s.over = true
	close(s.stop)
	for _, t := range s.turns {
		if t.b == nil {
			t.of.end()
		}
	}
	if err := s.on.disk.Close(); err != nil {
		s.node.Fail(err)
	}
	go func() {
		s.real.Shutdown()
		s.real.WaitForShutdown()
		_ = os.RemoveAll(s.folder)
	}()
}

// session is a connection of a client: what the world delivers goes through a pipe to the server.
type session struct {
	server *natsServer
	conn   *sim.ServerConn
	pipe   net.Conn
	more   chan struct{} // there is something to write

	pending map[string]trace.Decision // the operations that were not answered, by the inbox
	gone    chan struct{}             // closed when the session has ended

	mu    sync.Mutex
	in    []byte // from the client
	out   []byte // to the client
	asked bool   // flush is to be called
	done  bool   // the server has hung up
	ended bool
}

// Data implements [sim.Session].
func (n *session) Data(b []byte) {
	all, _ := frames(b)
	for _, f := range all {
		if value, ttl, ok := f.stores(); ok {
			n.server.ttls[value] = ttl
		}
	}
	n.notePending(all)
	for _, key := range n.server.watched {
		if text := string(b); strings.Contains(text, Subject(key)) && strings.Contains(text, "KV-Operation: DEL") {
			n.server.deletes[key] = n.conn.Client()
		}
	}
	n.server.node.Record(n.conn.Client(), trace.Exec{Conn: n.conn.Name(), Request: described(b)})
	n.server.inTurn(turn{n, b})
}

// hand hands on what the client has sent; nil ends the session.
func (n *session) hand(b []byte) {
	if b == nil {
		n.end()
		return
	}
	n.mu.Lock()
	n.in = append(n.in, b...)
	n.mu.Unlock()
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// EOF implements [sim.Session].
func (n *session) EOF() { n.server.inTurn(turn{of: n}) }

// Reset implements [sim.Session].
func (n *session) Reset() { n.server.inTurn(turn{of: n}) }

func (n *session) end() {
	if !n.ended {
		n.ended = true
		close(n.gone)
		_ = n.pipe.Close()
	}
}

// write hands on what the client has sent.
func (n *session) write() {
	for {
		select {
		case <-n.more:
		case <-n.gone:
			return
		}
		n.mu.Lock()
		b := n.in
		n.in = nil
		n.mu.Unlock()
		if _, err := n.pipe.Write(b); err != nil {
			return
		}
	}
}

// read collects what the server answers.
func (n *session) read() {
	b := make([]byte, 64<<10)
	for {
		count, err := n.pipe.Read(b)
		n.mu.Lock()
		n.out = append(n.out, b[:count]...)
		n.done = err != nil
		if !n.asked {
			n.asked = true
			n.conn.Notify(n.flush)
		}
		n.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// flush sends it.
func (n *session) flush() {
	n.mu.Lock()
	b, done := n.out, n.done
	n.out, n.asked = nil, false
	n.mu.Unlock()
	n.decided(b)
	if n.ended {
		return
	}
	if len(b) > 0 {
		n.conn.Send(sorted(b))
	}
	if done {
		n.conn.Finish()
	}
}

// Subject is that of a key of the bucket.
func Subject(key string) string { return "$KV." + Bucket + "." + key }

// Signed is a value with the name of the client that stores it, by which the record of the keys says whose it is.
func Signed(value, client string) string { return value + "@" + client }
