//go:build linux

package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"locksim/checker"
	"locksim/internal/child"
	"locksim/lock"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/trace"
)

// errWorkerDead is returned by marks of a client whose worker was killed.
var errWorkerDead = errors.New("the worker of the process is dead")

// machine is a client as its parent sees it: a process, and the proxies to the servers. It is a [play.Machine].
type machine struct {
	w           *World
	name        string
	incarnation int
	ctx         context.Context
	cancel      context.CancelFunc
	notice      context.Context // ends when the process is asked to end
	notify      context.CancelFunc
	clock       *clock // a copy of that of the process
	link        *link
	process     *child.Process
	net         *network

	// The instants at which the process had the latest answer, and heard of a loss, and at which a lease of it ended.
	answerAt, lostAt, untilAt atomic.Int64
	sawWall                   atomic.Bool
	workerDead                atomic.Bool

	mu      sync.Mutex
	crashed bool
	closed  bool
	pauses  int           // how many pauses it is in
	stop    chan struct{} // closed while it is paused
	goOn    chan struct{} // closed while it is not
	leases  map[int]*lease
	early   map[int][]func(*lease) // what the process told of a lease before its Acquire was answered
	closers []func()
	taken   chan exhausted
}

// launch starts the process of a client, which knows nothing of a former one of that name.
func (w *World) launch(name string, incarnation int, shows reading) (*machine, error) {
	m := &machine{w: w, name: name, incarnation: incarnation, clock: newClock(shows),
		stop: make(chan struct{}), goOn: make(chan struct{}), leases: map[int]*lease{}, early: map[int][]func(*lease){},
		taken: make(chan exhausted, 1)}
	close(m.goOn)
	m.ctx, m.cancel = context.WithCancel(w.ctx)
	m.notice, m.notify = context.WithCancel(m.ctx)
	n, err := w.newNetwork(m)
	if err != nil {
		return nil, err
	}
	m.net = n
	if err := m.start(); err != nil {
		m.net.close()
		return nil, fmt.Errorf("start the process of %s: %w", name, err)
	}
	_, err = m.call(m.ctx, askHello, hello{Name: name, Lock: w.lock.Name, Incarnation: incarnation, Seed: w.seed,
		Spec:  w.scenario.Lock,
		Clock: shows, Table: m.net.table()}, nil)
	if err != nil {
		m.kill()
		m.net.close()
		return nil, fmt.Errorf("start the process of %s: %w%s", name, err, m.said())
	}
	return m, nil
}

func (m *machine) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asClient+"=1")
	cmd.Dir = m.w.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	linked := make(chan struct{})
	m.process, err = child.Start(cmd, func(in *child.Reader) {
		<-linked
		m.link.read(in)
	})
	if err != nil {
		return err
	}
	m.link = newLink(m.process.Lines, m.serve)
	close(linked)
	go func() {
		err := m.process.State()
		m.mu.Lock()
		expected := m.crashed || m.closed
		m.mu.Unlock()
		if !expected {
			m.w.fail(fmt.Errorf("the process of %s ended: %w%s", m.name, cause(err), m.said()))
		}
	}()
	return nil
}

func cause(err error) error {
	if err == nil {
		return errors.New("without an error")
	}
	return err
}

func (m *machine) call(ctx context.Context, kind string, request, answer any) (at int64, err error) {
	return m.link.call(ctx, kind, request, answer)
}

// serve hears what the process has to say.
func (m *machine) serve(_ context.Context, f frame) (any, error) {
	switch f.Kind {
	case askPoint:
		p, err := decode[point](f)
		if err != nil {
			return nil, err
		}
		_, err = m.mark(trace.Mark{Step: trace.Point, Label: p.Label}, f.At)
		return nil, err
	case tellLost:
		r, err := decode[leaseCall](f)
		if err == nil {
			m.lostAt.Store(f.At)
			m.about(r.Lease, (*lease).lose)
		}
		return nil, err
	case tellContext:
		r, err := decode[contextEnded](f)
		if err == nil {
			m.about(r.Lease, func(l *lease) { l.over(r.Cause.err()) })
		}
		return nil, err
	case tellUntil:
		r, err := decode[until](f)
		if err == nil {
			m.about(r.Lease, func(l *lease) { l.move(r.Until) })
		}
		return nil, err
	case tellWall:
		m.sawWall.Store(true)
	case tellTaken:
		r, err := decode[exhausted](f)
		if err == nil {
			m.taken <- r
		}
		return nil, err
	}
	return nil, nil
}

// answered notes the instant of an answer of the process.
func (m *machine) answered(at int64) {
	if at > 0 {
		m.answerAt.Store(at)
	}
}

// kill ends the process, and waits for it.
func (m *machine) kill() {
	if m.process == nil {
		return
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.process.Kill()
}

// close ends the process in order: the lock closes its connections.
func (m *machine) close() {
	m.mu.Lock()
	m.closed = true
	crashed, closers := m.crashed, m.closers
	m.closers = nil
	m.mu.Unlock()
	for _, f := range closers {
		f()
	}
	if !crashed {
		m.resumeAll()
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		answered := make(chan struct{})
		go func() { _, _ = m.call(ctx, askClose, nil, nil); close(answered) }()
		select {
		case <-answered:
		case <-ctx.Done():
		}
		cancel()
	}
	m.cancel()
	m.kill()
	m.net.close()
}

// closing is how long a lock has to close its connections at the end of a run.
const closing = 200 * time.Millisecond

// crash ends the process at once.
func (m *machine) crash() {
	m.mu.Lock()
	m.crashed = true
	m.mu.Unlock()
	m.kill()
	m.cancel()
	m.wake()
}

// Notice implements play.Machine.
func (m *machine) Notice() context.Context { return m.notice }

// Exit implements play.Machine.
func (m *machine) Exit() {
	if m.notice.Err() != nil && m.ctx.Err() == nil {
		m.w.inOrder(func() { m.end(trace.Exit) })
	}
}

// end ends a process that was asked to end, if it is still there. It is for the goroutine of the world.
func (m *machine) end(how string) {
	if !m.Crashed() {
		m.crash()
		m.w.record(m.name, trace.Crash{Mode: how})
	}
}

// wake lets the driver go on that waits for the end of a pause.
func (m *machine) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses > 0 {
		m.pauses = 0
		close(m.goOn)
		m.stop = make(chan struct{})
	}
}

// pause stops the process, all of its threads. Pauses may overlap.
func (m *machine) pause() error {
	m.keepLeases()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses++; m.pauses > 1 {
		return nil
	}
	m.goOn = make(chan struct{})
	close(m.stop)
	if err := m.process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return m.awaitState('T')
}

// resume is the end of one pause.
func (m *machine) resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses == 0 {
		return // it was killed, or healed
	}
	if m.pauses--; m.pauses > 0 {
		return
	}
	_ = m.process.Signal(syscall.SIGCONT)
	close(m.goOn)
	m.stop = make(chan struct{})
}

// resumeAll ends all pauses.
func (m *machine) resumeAll() {
	m.mu.Lock()
	m.pauses = min(m.pauses, 1)
	m.mu.Unlock()
	m.resume()
}

// keepLeases asks for the ends of all leases, as far as the process answers at once: while it is stopped it cannot.
func (m *machine) keepLeases() {
	m.mu.Lock()
	var open []*lease
	for _, l := range m.leases {
		if l.info.Until != 0 {
			open = append(open, l)
		}
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, 20*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for _, l := range open {
		all.Go(func() {
			var u until
			if _, err := m.call(ctx, askUntil, leaseCall{Lease: l.info.ID}, &u); err == nil {
				l.move(u.Until)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// awaitState waits until the kernel says that the process is in a state, such as T for stopped.
func (m *machine) awaitState(state byte) error {
	for range 5000 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.process.ID()))
		if err != nil {
			return err
		}
		if i := bytes.LastIndexByte(text, ')'); i >= 0 && i+2 < len(text) && text[i+2] == state {
			return nil
		}
		time.Sleep(100 * time.Microsecond)
	}
	return fmt.Errorf("the process of %s does not stop", m.name)
}

// stopped is closed while the process is paused.
func (m *machine) stopped() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop
}

// awaitRun waits while the process is paused.
func (m *machine) awaitRun() {
	for {
		m.mu.Lock()
		paused, goOn := m.pauses > 0, m.goOn
		m.mu.Unlock()
		if !paused {
			return
		}
		select {
		case <-goOn:
		case <-m.ctx.Done():
			return
		}
	}
}

// alive is an error if the process has crashed, or its worker has.
func (m *machine) alive() error {
	switch {
	case m.Crashed():
		return errEnded
	case m.workerDead.Load():
		return errWorkerDead
	}
	return m.ctx.Err()
}

// Mark implements play.Machine. The driver makes its marks here, in the parent: their order is known. Only a grant has
// begun before, in the process of the client, as far as the lock promises something.
func (m *machine) Mark(mark trace.Mark) (checker.Pos, error) {
	switch mark.Step {
	case trace.Granted, trace.Reentered:
		return m.mark(mark, m.answerAt.Load())
	case trace.NotGranted, trace.Read, trace.Written, trace.Released, trace.InnerRead, trace.InnerWritten, trace.Left:
		return m.mark(mark, monotonic())
	}
	return m.mark(mark, 0)
}

// mark is a mark that the client passes, between the instant from and now. 0 is for the present one. What the client
// has done before it was paused, it has done: only its next step waits for the end of the pause.
func (m *machine) mark(mark trace.Mark, from int64) (checker.Pos, error) {
	if from == 0 {
		m.awaitRun()
	}
	if err := m.alive(); err != nil {
		return 0, err
	}
	n := 0
	m.w.inOrder(func() {
		if m.alive() == nil {
			n = m.w.add(m.w.uncertain(m.name, mark.Step, from), m.name, "", mark)
			m.w.passed(m.name, mark)
		}
	})
	m.awaitRun()
	return checker.Pos(n), m.alive()
}

// Observe implements play.Machine.
func (m *machine) Observe(mark trace.Mark) checker.Pos {
	var from int64
	switch mark.Step {
	case trace.Lost:
		from = m.lostAt.Load()
	case trace.Until:
		from = m.untilAt.Load()
	}
	n := 0
	m.w.inOrder(func() { n = m.w.add(from, m.name, "", mark) })
	return checker.Pos(n)
}

func (m *machine) Name() string             { return m.name }
func (m *machine) Context() context.Context { return m.ctx }
func (m *machine) Clock() lock.Clock        { return remoteClock{m} }
func (m *machine) WallClock() lock.Clock    { return remoteClock{m} }
func (m *machine) Do(f func())              { f() }
func (m *machine) Store() subject.Store     { return remoteStore{m: m} }
func (m *machine) View() play.View          { return view{m} }

// Go implements play.Machine.
func (m *machine) Go(f func()) {
	m.w.running.Add(1)
	go func() {
		defer m.w.running.Add(-1)
		f()
	}()
}

// Address implements play.Machine, as the lock has it in its process.
func (m *machine) Address(server string) string {
	if a, ok := m.net.table().Address[server]; ok {
		return a
	}
	return server
}

// Dial implements play.Machine: it is for the section of a lock, which the parent drives.
func (m *machine) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return dial(ctx, network, addr, func() (table, string, <-chan struct{}) {
		m.net.mu.Lock()
		changed := m.net.changed
		m.net.mu.Unlock()
		t := m.net.table()
		server, _, _ := strings.Cut(addr, ":")
		for name, a := range t.Address {
			if a == addr {
				server = name
			}
		}
		return t, cmp.Or(t.Told[addr], server), changed
	})
}

// Source implements play.Machine.
func (m *machine) Source(use string) rand.Source {
	return sim.SourceOf(m.w.seed, m.name, m.incarnation, use)
}

// Entropy implements play.Machine.
func (m *machine) Entropy(use string) io.Reader {
	return entropy(m.w.seed, m.name, m.incarnation, use)
}

// OnEnd implements play.Machine.
func (m *machine) OnEnd(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closers = append(m.closers, f)
}

// Crashed reports whether the process has crashed.
func (m *machine) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crashed
}

// view is the [play.View] of a process.
type view struct{ *machine }

func (v view) Paused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pauses > 0
}

func (v view) LooksAtWallClock() bool { return v.sawWall.Load() }

func (v view) Now() time.Time { return v.clock.Now() }

func (v view) Look(f func()) { f() }

func (v view) Until(t time.Time, stop <-chan struct{}) bool {
	if !v.clock.until(t.UnixNano(), false, stop, v.w.ctx.Done()) {
		return false
	}
	r, _ := v.clock.get()
	if at, ok := r.when(t.UnixNano()); ok {
		v.untilAt.Store(at)
	}
	return true
}

// remoteClock is the clock of a process as the driver uses it: the process itself sleeps.
type remoteClock struct{ m *machine }

// Now implements lock.Clock.
func (c remoteClock) Now() time.Time { return c.m.clock.Now() }

// Sleep implements lock.Clock.
func (c remoteClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	_, err := c.m.call(ctx, askSleep, sleep{int64(d), deadlineOf(ctx)}, nil)
	return err
}

// AfterFunc implements lock.Clock. It ends contexts of the driver: a process that is stopped hears of it when it runs
// again.
func (c remoteClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return c.m.clock.AfterFunc(d, f)
}

// said is what the process wrote to standard error, on lines of its own.
func (m *machine) said() string {
	if text := m.process.Said.String(); text != "" {
		return "\n" + text
	}
	return ""
}
