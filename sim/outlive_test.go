package sim_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
)

// TestWhatOutlivesTheCrashOfAServer shows which faults are still in force when a
// server runs again: those of its links, of its clock and of its machine, but no
// stall, which is one of the process. The fault begins at 0.5s, the server crashes
// at 1s and restarts at 2s, and a client asks it at 3s.
func TestWhatOutlivesTheCrashOfAServer(t *testing.T) {
	const s = time.Second
	about := func(got, want time.Duration) bool { return (got - want).Abs() < 10*time.Millisecond }
	clock := func(w *sim.World) time.Duration { return w.Nodes()[0].Now().Sub(w.Client(0).WallClock().Peek()) }
	for name, c := range map[string]struct {
		fault   func(f *sim.Faults) error
		arrives time.Duration // the request
		refused bool
		ahead   time.Duration // the clock of the server, at 3s
	}{
		"nothing": {func(*sim.Faults) error { return nil }, 3 * s, false, 0},
		"stall":   {func(f *sim.Faults) error { return f.Stall("s", 6*s) }, 3 * s, false, 0},
		"partition": {func(f *sim.Faults) error { return f.Cut(faults.Partition{Between: []string{"s"}, For: 6 * s}) },
			6*s + s/2, false, 0},
		"latency": {func(f *sim.Faults) error {
			return faults.Latency{Between: []string{"c0"}, And: []string{"s"}, Add: s, For: 6 * s}.Apply(f) // not of a handshake
		}, 4 * s, false, 0},
		"refusal":    {func(f *sim.Faults) error { return f.Refuse("s", 6*s) }, 0, true, 0},
		"clock jump": {func(f *sim.Faults) error { return f.JumpClock("s", 40*s) }, 3 * s, false, 40 * s},
		"drift":      {func(f *sim.Faults) error { return f.DriftClock("s", 1_000_000, 6*s) }, 3 * s, false, 2*s + s/2},
	} {
		for _, mode := range faults.CrashModes() {
			run(t, one(newSink), func(w *sim.World) error {
				w.At(s/2, func() { must(t, c.fault(w.Faults())) })
				w.At(s, func() { must(t, w.Faults().Crash("s", mode)) })
				w.At(2*s, func() { must(t, w.Faults().Restart("s")) })
				p := w.Client(0)
				p.Go(func() {
					rest(w, 3*s)
					if ahead := clock(w); !about(ahead, c.ahead) {
						t.Errorf("%s, crash of the %s: the clock of the server is %v ahead, want %v", name, mode, ahead, c.ahead)
					}
					conn, err := p.Dial(p.Context(), "tcp", "s")
					if errors.Is(err, syscall.ECONNREFUSED) != c.refused || err != nil != c.refused {
						t.Errorf("%s, crash of the %s: %v, want refused %v", name, mode, err, c.refused)
					}
					if err != nil {
						return
					}
					mustWrite(conn, "x")
					rest(w, 10*s-w.Now())
					_ = conn.Close()
				})
				err := w.RunUntil(w.Idle)
				var at []time.Duration
				for _, conn := range w.Nodes()[0].Server().(*Sink).Conns {
					at = append(at, conn.At...)
				}
				if !c.refused && (len(at) != 1 || !about(at[0], c.arrives)) {
					t.Errorf("%s, crash of the %s: the request arrived at %v, want %v", name, mode, at, c.arrives)
				}
				return err
			})
		}
	}
}

// TestConnectionsAtTheCrashOfAServer shows what a client sees of an old connection:
// its end if the process has crashed. Without power it sees nothing until the machine
// runs again, and then a reset, of a connection on which it has sent. A message takes
// 100 ms.
func TestConnectionsAtTheCrashOfAServer(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		mode faults.CrashMode
		send time.Duration // when the client sends; 0 for never
		want error         // what it reads, nil for nothing
		at   time.Duration
	}{
		"process":                     {faults.CrashProcess, 0, io.EOF, s + s/10},
		"process, sent before":        {faults.CrashProcess, s / 2, io.EOF, s + s/10},
		"power":                       {faults.CrashPower, 0, nil, 5*s + s/5},
		"power, sent before":          {faults.CrashPower, s / 2, nil, 5*s + s/5},
		"power, sent meanwhile":       {faults.CrashPower, s + s/2, syscall.ECONNRESET, 2*s + s/10},
		"power, sent after a restart": {faults.CrashPower, 3 * s, syscall.ECONNRESET, 3*s + s/5},
	} {
		cfg := one(newSink)
		cfg.Latency = sim.Latency{Min: s / 10, Max: s / 10}
		run(t, cfg, func(w *sim.World) error {
			w.At(s, func() { must(t, w.Faults().Crash("s", c.mode)) })
			w.At(2*s, func() { must(t, w.Faults().Restart("s")) })
			p := w.Client(0)
			p.Go(func() {
				conn := dial(p, "s")
				if c.send > 0 {
					p.Go(func() {
						rest(w, c.send-w.Now())
						_, _ = conn.Write([]byte("x"))
					})
				}
				must(t, conn.SetReadDeadline(p.Clock().Now().Add(5*s)))
				err := readErr(conn)
				if want := cmp.Or(c.want, os.ErrDeadlineExceeded); !roughly(w.Now(), c.at) || !errors.Is(err, want) {
					t.Errorf("%s: %v at %v, want %v at %v", name, err, w.Now(), want, c.at)
				}
				_ = conn.Close()
			})
			return w.RunUntil(w.Idle)
		})
	}
}

// TestDialsOfAServerThatIsDown shows that a dial is refused if the process of the
// server has crashed, and waits if its machine has no power: until it runs again, and
// the links to it are whole. The restart of another server changes nothing. The server
// crashes at 1s and restarts at 2s.
func TestDialsOfAServerThatIsDown(t *testing.T) {
	const s = time.Second
	cut := func(between string) func(f *sim.Faults) error {
		return func(f *sim.Faults) error {
			return f.Cut(faults.Partition{Between: []string{between}, And: []string{"c0"}, For: 4 * s})
		}
	}
	nothing := func(*sim.Faults) error { return nil }
	for _, c := range []struct {
		mode    faults.CrashMode
		fault   func(f *sim.Faults) error // at 1s
		to      string
		refused bool
		at      time.Duration // when the dial of 1.5s ends
	}{
		{faults.CrashProcess, nothing, "n0", true, s + s/2},
		{faults.CrashProcess, nothing, "n1", false, s + s/2},
		{faults.CrashPower, nothing, "n0", false, 2 * s},
		{faults.CrashPower, nothing, "n1", false, s + s/2},
		{faults.CrashPower, cut("n0"), "n0", false, 5 * s},
		{faults.CrashPower, cut("n1"), "n0", false, 2 * s},
		{faults.CrashPower, cut("n1"), "n1", false, 5 * s},
	} {
		run(t, sim.Config{Latency: ms, Servers: []sim.Kind{sinks{"n0", "n1"}}}, func(w *sim.World) error {
			w.At(s, func() {
				must(t, c.fault(w.Faults()))
				must(t, w.Faults().Crash("n0", c.mode))
			})
			w.At(2*s, func() { must(t, w.Faults().Restart("n0")) })
			p := w.Client(0)
			p.Go(func() {
				rest(w, s+s/2)
				conn, err := p.Dial(p.Context(), "tcp", c.to)
				took := w.Now() - c.at
				if took < 0 || took > 5*time.Millisecond || c.refused && !errors.Is(err, syscall.ECONNREFUSED) || !c.refused &&
					err != nil {
					t.Errorf("crash of the %s, dial of %s: %v at %v, want it refused %v at %v", c.mode, c.to, err, w.Now(), c.refused,
						c.at)
				}
				if err == nil {
					_ = conn.Close()
				}
			})
			return w.RunUntil(w.Idle)
		})
	}
}

// mortal is a server that logs what becomes of it.
type mortal struct {
	Sink
	log    *[]string
	resets int
}

// Crash implements [sim.Crasher].
func (m *mortal) Crash(mode faults.CrashMode) { *m.log = append(*m.log, "crash of the "+string(mode)) }

// Kept implements [sim.Keeper].
func (m *mortal) Kept() string { return "two keys" }

// Restart implements [sim.Restarter].
func (m *mortal) Restart(step int) { *m.log = append(*m.log, fmt.Sprintf("restart at step %d", step)) }

// Accept implements [sim.Server].
func (m *mortal) Accept(*sim.ServerConn) sim.Session { return mortalSession{m} }

type mortalSession struct{ m *mortal }

func (mortalSession) Data([]byte) {}
func (mortalSession) EOF()        {}
func (s mortalSession) Reset()    { s.m.resets++ }

// TestCrashOfAServerIsTold shows what the server and the trace are told of a crash and
// a restart, each once: a second crash changes nothing.
func TestCrashOfAServerIsTold(t *testing.T) {
	for _, mode := range faults.CrashModes() {
		var log []string
		var m *mortal
		cfg := one(func(n *sim.Node) sim.Server { m = &mortal{Sink: Sink{node: n}, log: &log}; return m })
		res := run(t, cfg, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() { dial(p, "s") })
			must(t, w.RunFor(time.Second))
			for range 2 {
				must(t, w.Faults().Crash("s", mode))
			}
			return w.Faults().Restart("s")
		})
		var told []string
		for _, e := range res.Trace.Events {
			if e.Kind() == "crash" || e.Kind() == "restart" {
				told = append(told, fmt.Sprintf("%s %s %s at %d", e.Peer, e.Kind(), e.Text(), e.N))
			}
		}
		last := len(res.Trace.Events)
		want := []string{"s crash " + string(mode) + " at 2", fmt.Sprintf("s restart two keys at %d", last)}
		if !slices.Equal(told, want) {
			t.Errorf("the trace has %q, want %q", told, want)
		}
		if want := []string{"crash of the " + string(mode), fmt.Sprintf("restart at step %d", last)}; !slices.Equal(log,
			want) {
			t.Errorf("the server was told %q, want %q", log, want)
		}
		if m.resets != 1 {
			t.Errorf("its session was reset %d times", m.resets)
		}
	}
}

// TestSessionsEndOnce shows that a session is reset, and what a process has opened is closed, once: at a crash, or else
// at the end of the run.
func TestSessionsEndOnce(t *testing.T) {
	for _, crashed := range []string{"", "s", "c0"} {
		var log []string
		var m *mortal
		closed := make(chan struct{}, 10)
		run(t, one(func(n *sim.Node) sim.Server { m = &mortal{Sink: Sink{node: n}, log: &log}; return m }),
			func(w *sim.World) error {
				p := w.Client(0)
				p.OnEnd(func() { closed <- struct{}{} })
				p.Go(func() { dial(p, "s") })
				must(t, w.RunFor(time.Second))
				if crashed != "" {
					must(t, w.Faults().Crash(crashed, faults.CrashPower))
				}
				return w.RunFor(time.Second)
			})
		if m.resets != 1 || len(closed) != 1 {
			t.Errorf("crash of %q: the session was reset %d times, and the process closed %d times", crashed, m.resets,
				len(closed))
		}
	}
}

// TestRestartOfAServerThatWatchesNoKeys shows that a server without any ability
// restarts in a world in which keys are watched, and that one that can watch keys is
// told of none where none are watched.
func TestRestartOfAServerThatWatchesNoKeys(t *testing.T) {
	for _, keys := range [][]string{nil, {"k"}} {
		var log []string
		build := kind(func(b *sim.Builder) {
			b.Add("plain", 9, newSink)
			b.Add("able", 9, func(n *sim.Node) sim.Server { return &process{Sink: Sink{node: n}, name: "it", log: &log} })
		})
		run(t, sim.Config{Latency: ms, Servers: []sim.Kind{build}}, func(w *sim.World) error {
			if len(keys) > 0 {
				w.WatchKeys(keys...)
			}
			for _, name := range []string{"plain", "able"} {
				must(t, w.Faults().Crash(name, faults.CrashProcess))
				must(t, w.Faults().Restart(name))
			}
			return nil
		})
		told := 0
		for _, what := range log {
			if what == "it watches k" {
				told++
			}
		}
		if told != 2*len(keys) || len(log) != told+2 { // and two closes
			t.Errorf("with the keys %v: %q", keys, log)
		}
	}
}
