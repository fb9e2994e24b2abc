package sim_test

import (
	"errors"
	"io"
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
		"nothing":   {func(*sim.Faults) error { return nil }, 3 * s, false, 0},
		"stall":     {func(f *sim.Faults) error { return f.Stall("s", 6*s) }, 3 * s, false, 0},
		"partition": {func(f *sim.Faults) error { return f.Cut(faults.Partition{Between: []string{"s"}, For: 6 * s}) }, 6*s + s/2, false, 0},
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
// its end, at once, if the process has crashed. Without power it sees nothing until
// the machine runs again, and then a reset, of a connection on which it has sent.
func TestConnectionsAtTheCrashOfAServer(t *testing.T) {
	const s = time.Second
	about := func(got, want time.Duration) bool { return (got - want).Abs() < 10*time.Millisecond }
	for name, c := range map[string]struct {
		mode faults.CrashMode
		send time.Duration // when the client sends; 0 for never
		want error         // what it reads, nil for nothing
		at   time.Duration
	}{
		"process":                     {faults.CrashProcess, 0, io.EOF, s},
		"process, sent before":        {faults.CrashProcess, s / 2, io.EOF, s},
		"power":                       {faults.CrashPower, 0, nil, 0},
		"power, sent before":          {faults.CrashPower, s / 2, nil, 0},
		"power, sent meanwhile":       {faults.CrashPower, s + s/2, syscall.ECONNRESET, 2 * s},
		"power, sent after a restart": {faults.CrashPower, 3 * s, syscall.ECONNRESET, 3 * s},
	} {
		run(t, one(newSink), func(w *sim.World) error {
			w.At(s, func() { must(t, w.Faults().Crash("s", c.mode)) })
			w.At(2*s, func() { must(t, w.Faults().Restart("s")) })
			p := w.Client(0)
			var err error
			at := time.Duration(-1)
			p.Go(func() {
				conn := dial(p, "s")
				if c.send > 0 {
					p.Go(func() {
						rest(w, c.send-w.Now())
						_, _ = conn.Write([]byte("x"))
					})
				}
				must(t, conn.SetReadDeadline(p.Clock().Now().Add(5*s)))
				err, at = readErr(conn), w.Now()
				_ = conn.Close()
			})
			result := w.RunUntil(w.Idle)
			switch {
			case c.want == nil && !about(at, 5*s):
				t.Errorf("%s: %v at %v, want nothing until 5s", name, err, at)
			case c.want != nil && (!errors.Is(err, c.want) || !about(at, c.at)):
				t.Errorf("%s: %v at %v, want %v at %v", name, err, at, c.want, c.at)
			}
			return result
		})
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
