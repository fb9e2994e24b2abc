package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// kind is a kind of servers for tests.
type kind func(b *sim.Builder)

// Build implements [sim.Kind].
func (k kind) Build(b *sim.Builder) { k(b) }

// one is a world of one server, s, on a network of 1 ms.
func one(newServer func(n *sim.Node) sim.Server) sim.Config {
	return sim.Config{Latency: ms, Servers: []sim.Kind{kind(func(b *sim.Builder) { b.Add("s", 9, newServer) })}}
}

func newSink(n *sim.Node) sim.Server { return &Sink{node: n} }

// TestInvalidServers shows which servers a world refuses to add.
func TestInvalidServers(t *testing.T) {
	for want, build := range map[string]kind{
		`the name "s" is empty, or taken`:           func(b *sim.Builder) { b.Add("s", 9, newSink); b.Add("s", 10, newSink) },
		`the name "c0" is empty, or taken`:          func(b *sim.Builder) { b.Add("c0", 9, newSink) },
		`the name "" is empty, or taken`:            func(b *sim.Builder) { b.Add("", 9, newSink) },
		`the name "m" is empty, or taken`:           func(b *sim.Builder) { b.Add("m", 9, newSink); b.Alias("m", 9, nil) },
		"s listens on port 0: give one of":          func(b *sim.Builder) { b.Add("s", 0, newSink) },
		"s listens on port 65536: give one":         func(b *sim.Builder) { b.Add("s", 65536, newSink) },
		`the server "s" has no function to make it`: func(b *sim.Builder) { b.Add("s", 9, nil) },
		"t listens on port 0: give one of": func(b *sim.Builder) {
			b.Link(b.Add("s", 9, newSink), b.Add("t", 0, newSink), b.Add("u", 9, newSink))
		},
		"there is a link to no server: give": func(b *sim.Builder) { b.Link(b.Add("s", 9, newSink), nil) },
	} {
		_, err := sim.Run(sim.Config{Servers: []sim.Kind{build}}, func(*sim.World) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "build the servers of kind sim_test.kind") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestManyServers shows that a kind has at most 200 servers, and a world 200 kinds.
func TestManyServers(t *testing.T) {
	for n, ok := range map[int]bool{200: true, 201: false} {
		build := kind(func(b *sim.Builder) {
			for i := range n {
				b.Add(fmt.Sprint("s", i), 9, newSink)
			}
		})
		_, err := sim.Run(sim.Config{Servers: []sim.Kind{build}}, func(w *sim.World) error {
			if len(w.Nodes()) != n {
				t.Errorf("%d servers, want %d", len(w.Nodes()), n)
			}
			return nil
		})
		if (err == nil) != ok {
			t.Errorf("%d servers: %v", n, err)
		}
		var kinds []sim.Kind
		for i := range n {
			kinds = append(kinds, sinks{fmt.Sprint("s", i)})
		}
		if _, err := sim.Run(sim.Config{Servers: kinds}, func(*sim.World) error { return nil }); (err == nil) != ok {
			t.Errorf("%d kinds: %v", n, err)
		}
	}
}

// TestKeyChanges shows that the world knows which server changed a key, and when.
func TestKeyChanges(t *testing.T) {
	var nodes []*sim.Node
	build := kind(func(b *sim.Builder) { nodes = []*sim.Node{b.Add("a", 9, newSink), b.Add("b", 9, newSink)} })
	run(t, sim.Config{Servers: []sim.Kind{build}}, func(w *sim.World) error {
		for i, n := range nodes {
			w.At(time.Duration(i+1)*time.Second, func() { n.KeyChanged(trace.KeyChange{Key: "k", Change: trace.KeySet}) })
		}
		err := w.RunFor(time.Minute)
		none := trace.TimeLeft{End: trace.EndNone}
		want := []trace.KeyChange{
			{Key: "k", Change: trace.KeySet, Server: "a", At: time.Second, Left: none},
			{Key: "k", Change: trace.KeySet, Server: "b", At: 2 * time.Second, Left: none},
		}
		if diff := cmp.Diff(want, w.KeyChanges()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return err
	})
}

// TestWhatWasThereBeforeAKeyChanged shows that the world knows which value a change has replaced on its server, and
// whose it was, also if the server has it from another one.
func TestWhatWasThereBeforeAKeyChanged(t *testing.T) {
	var a, b *sim.Node
	build := kind(func(build *sim.Builder) { a, b = build.Add("a", 9, newSink), build.Add("b", 9, newSink) })
	run(t, sim.Config{Servers: []sim.Kind{build}}, func(w *sim.World) error {
		for _, c := range []struct {
			on     *sim.Node
			change trace.KeyChange
			want   string
		}{
			{a, trace.KeyChange{Value: "v", By: "c0", Change: trace.KeySet}, "no key, over false:  of "},
			{b, trace.KeyChange{Value: "v", Change: trace.KeyReplicated}, "no key, over false:  of "},
			{b, trace.KeyChange{Value: "v", By: "c2", Change: trace.KeyProlonged, Left: trace.LeftFor(time.Second)},
				"1s, over false: v of c0"},
			{b, trace.KeyChange{Value: "w", By: "c1", Change: trace.KeySet, Left: trace.TimeLeft{End: trace.EndNever}},
				"no end, over true: v of c0"},
			{b, trace.KeyChange{By: "c0", Change: trace.KeyDeleted}, "unknown, over false: w of c1"},
			{b, trace.KeyChange{Value: "x", By: "c0", Change: trace.KeySet}, "no key, over false:  of "},
			{a, trace.KeyChange{Value: "", By: "c1", Change: trace.KeySet}, "unknown, over true: v of c0"},
			{a, trace.KeyChange{Change: trace.KeyExpired, Left: trace.LeftFor(0)}, "0s, over false:  of c1"},
		} {
			c.change.Key = "k"
			c.on.KeyChanged(c.change)
			all := w.KeyChanges()
			last := all[len(all)-1]
			if got := fmt.Sprintf("%v, over %v: %s of %s", last.Left, last.Over, last.Was, last.WasOf); got != c.want {
				t.Errorf("change %d: %s, want %s", len(all), got, c.want)
			}
		}
		return nil
	})
}

// TestWorldWithoutServers shows that a world may consist of clients alone,
// whose dials fail.
func TestWorldWithoutServers(t *testing.T) {
	_, err := sim.Run(sim.Config{}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			_, err := p.Dial(p.Context(), "tcp", "r0")
			if err == nil || !strings.Contains(err.Error(), "this world has no servers") {
				t.Errorf("dial: %v", err)
			}
		})
		if _, err := w.Node("r0"); err == nil || len(w.Nodes()) != 0 {
			t.Errorf("it has %v", w.Nodes())
		}
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMissingAbility shows that a fault for which a server lacks the ability is
// an error, and adds nothing to the trace.
func TestMissingAbility(t *testing.T) {
	res := run(t, one(newSink), func(w *sim.World) error {
		f := w.Faults()
		for what, err := range map[string]error{
			"take over":     f.Promote(faults.Failover{To: "s"}),
			"refuse writes": f.RefuseWrites("s", time.Second),
		} {
			if err == nil || !strings.Contains(err.Error(), "s cannot "+what+": a server of this kind has no such ability") {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, fault := range []faults.Action{faults.Evict{Node: "s"}, faults.Flush{Node: "s"}} {
			if err := fault.Apply(f); !errors.Is(err, faults.ErrUnable) ||
				!strings.Contains(err.Error(), "s is a server of a kind without this ability") {
				t.Errorf("%v: %v", fault, err)
			}
		}
		if err := f.Promote(faults.Failover{}); err == nil || !strings.Contains(err.Error(), `"r0a"`) {
			t.Errorf("a failover to the first replica, where there is none: %v", err)
		}
		return nil
	})
	if res.Trace.Len() != 0 {
		t.Errorf("the trace has %s", res.Trace.JSON())
	}
}

// refuser is a server that refuses every connection.
type refuser struct{}

// Accept implements [sim.Server].
func (refuser) Accept(*sim.ServerConn) sim.Session { return nil }

// TestServerRefuses shows that a nil session refuses the connection.
func TestServerRefuses(t *testing.T) {
	run(t, one(func(*sim.Node) sim.Server { return refuser{} }), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			if _, err := p.Dial(p.Context(), "tcp", "s"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial: %v", err)
			}
		})
		return w.RunUntil(w.Idle)
	})
}

// TestRestartCreatesAnew shows that a server which is no Restarter is created
// anew, and that a crash resets its sessions and drops its timers.
func TestRestartCreatesAnew(t *testing.T) {
	made := 0
	cfg := one(func(n *sim.Node) sim.Server { made++; return newSink(n) })
	run(t, cfg, func(w *sim.World) error {
		p := w.Client(0)
		n, err := w.Node("s")
		if err != nil {
			return err
		}
		first := n.Server()
		n.After(time.Minute, func() { t.Error("a timer outlived the crash") })
		p.Go(func() { _ = dial(p, "s") })
		must(t, w.RunFor(time.Second))
		must(t, w.Faults().Crash("s", faults.CrashProcess))
		if c := first.(*Sink).Conns[0]; !c.IsReset || !n.Down() {
			t.Errorf("session reset %v, server down %v", c.IsReset, n.Down())
		}
		must(t, w.Faults().Restart("s"))
		if n.Server() == first || made != 2 || n.Down() {
			t.Errorf("made %d times, down %v", made, n.Down())
		}
		return w.RunFor(time.Hour / 2)
	})
}

// TestNodeTimers shows that timers of a server follow its clock, also if its
// rate changes meanwhile, and that a stopped one does not fire.
func TestNodeTimers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ppm    int64 // from 1s on
		length time.Duration
		want   time.Duration
	}{
		{"true", 0, 2 * time.Second, 4 * time.Second},
		{"fast", 500_000, 2 * time.Second, 3 * time.Second},
		{"slow", -500_000, 2 * time.Second, 5 * time.Second},
		{"stopped", -1_000_000, 2 * time.Second, 6 * time.Second},
		{"stopped beyond the end", -1_000_000, 5 * time.Second, 9 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, one(newSink), func(w *sim.World) error {
				n, err := w.Node("s")
				if err != nil {
					return err
				}
				var fired []time.Duration
				n.After(4*time.Second, func() { fired = append(fired, w.Now()) })
				n.After(4*time.Second, func() { t.Error("a timer that was stopped has fired") }).Stop()
				early := 0
				n.After(time.Second/2, func() { early++ })
				w.At(time.Second, func() {
					must(t, w.Faults().DriftClock("s", tt.ppm, tt.length))
					must(t, w.Faults().JumpClock("s", time.Hour)) // which does not affect timers
				})
				err = w.RunFor(time.Minute)
				if len(fired) != 1 || !roughly(fired[0], tt.want) || early != 1 {
					t.Errorf("fired at %v, want %v; one that was due before fired %d times", fired, tt.want, early)
				}
				return err
			})
		})
	}
}

// follower is a server that is told of its peers.
type follower struct {
	Sink
	back []string
}

// PeerBack implements [sim.PeerFollower].
func (f *follower) PeerBack(peer *sim.Node) { f.back = append(f.back, peer.Name()) }

// TestPeers shows when a message from one server to another arrives: in order,
// after the latency; late or never in a partition, whose end both servers are
// told of if a message was lost; never at a server that is down; late at one
// that is stalled; and never, if the sender crashes before the departure.
func TestPeers(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name string
		do   func(f *sim.Faults) error // at 1s, with "before" under way
		got  string                    // with the second of the arrival
		back string
	}{
		{"nothing", func(*sim.Faults) error { return nil }, "before 1 now 1 then 1 held 4", "[] []"},
		{"partition that holds", cutPeers(faults.BytesHold), "before 1 now 3 then 3 held 4", "[] []"},
		{"partition that loses", cutPeers(faults.BytesDrop), "before 1 held 4", "[b] [a]"},
		{"receiver down", func(f *sim.Faults) error { return f.Crash("b", faults.CrashPower) }, "", "[] []"},
		{"receiver stalled", func(f *sim.Faults) error { return f.Stall("b", 2*s) }, "before 3 now 3 then 3 held 4", "[] []"},
		{"sender down", func(f *sim.Faults) error { return f.Crash("a", faults.CrashProcess) }, "before 1 now 1 then 1",
			"[] []"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a, b *sim.Node
			var ends [2]*follower
			build := kind(func(x *sim.Builder) {
				a = x.Add("a", 9, func(n *sim.Node) sim.Server { ends[0] = &follower{Sink: Sink{node: n}}; return ends[0] })
				b = x.Add("b", 9, func(n *sim.Node) sim.Server { ends[1] = &follower{Sink: Sink{node: n}}; return ends[1] })
				x.Link(a, b)
			})
			run(t, sim.Config{Latency: ms, Servers: []sim.Kind{build}}, func(w *sim.World) error {
				var got []string
				say := func(what string) func() {
					return func() { got = append(got, fmt.Sprint(what, " ", int(w.Now()/s))) }
				}
				to := a.Peer(b)
				w.At(s, func() {
					to.Send(say("before"))
					must(t, tt.do(w.Faults()))
					to.Send(say("now"))
					to.Send(say("then"))
					to.SendAfter(3*s, func() bool { return true }, say("held"))
					to.SendAfter(3*s, func() bool { return false }, say("void"))
				})
				err := errors.Join(w.RunFor(2*s), w.RunUntil(w.Quiet), w.RunFor(time.Minute))
				if text := strings.Join(got, " "); text != tt.got {
					t.Errorf("arrived: %s, want %s", text, tt.got)
				}
				if back := fmt.Sprint(ends[0].back, " ", ends[1].back); back != tt.back {
					t.Errorf("told that the peer is back: %s, want %s", back, tt.back)
				}
				return err
			})
		})
	}
}

// TestPeersAreApart shows that each direction of each link draws latencies of its own.
func TestPeersAreApart(t *testing.T) {
	var nodes []*sim.Node
	build := kind(func(b *sim.Builder) {
		for _, name := range []string{"a", "b", "d"} {
			nodes = append(nodes, b.Add(name, 9, newSink))
		}
		b.Link(nodes...)
	})
	run(t, sim.Config{Latency: sim.Latency{Min: time.Millisecond, Max: time.Second}, Servers: []sim.Kind{build}},
		func(w *sim.World) error {
			at := map[time.Duration]bool{}
			w.At(time.Second, func() {
				for _, from := range nodes {
					for _, to := range nodes {
						if from != to {
							from.Peer(to).Send(func() { at[w.Now().Round(10*time.Microsecond)] = true })
						}
					}
				}
			})
			err := w.RunFor(time.Minute)
			if len(at) != 6 {
				t.Errorf("six messages arrived at %d instants", len(at))
			}
			return err
		})
}

func cutPeers(bytes faults.Bytes) func(f *sim.Faults) error {
	return func(f *sim.Faults) error {
		return f.Cut(faults.Partition{Between: []string{"a"}, And: []string{"b"}, Bytes: bytes, For: 2 * time.Second})
	}
}

// TestNoPeer shows the panic of a server that asks for a peer without a link.
func TestNoPeer(t *testing.T) {
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{sinks{"a", "b"}}}, func(w *sim.World) error {
		w.Nodes()[0].Peer(w.Nodes()[1])
		return nil
	})
	var p *sim.PanicError
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "no link leads from a to b") {
		t.Errorf("error %v", err)
	}
}

// TestAlias shows that a name resolves to what its kind returns for the
// process, at the time of the dial.
func TestAlias(t *testing.T) {
	leads := "a"
	build := kind(func(b *sim.Builder) {
		nodes := map[string]*sim.Node{"a": b.Add("a", 9, newSink), "b": b.Add("b", 9, newSink)}
		b.Alias("door", 9, func(process string) *sim.Node {
			if process == "c1" {
				return nodes["b"]
			}
			return nodes[leads]
		})
	})
	run(t, sim.Config{Clients: 2, Latency: ms, Servers: []sim.Kind{build}}, func(w *sim.World) error {
		conns := func() [2]int {
			return [2]int{len(w.Nodes()[0].Server().(*Sink).Conns), len(w.Nodes()[1].Server().(*Sink).Conns)}
		}
		for i, want := range [][2]int{{1, 1}, {1, 3}} {
			for c := range 2 {
				p := w.Client(c)
				p.Go(func() { _ = dial(p, p.Address("door")).Close() })
			}
			if err := w.RunUntil(w.Idle); err != nil {
				return err
			}
			if got := conns(); got != want {
				t.Errorf("dial %d: %v connections, want %v", i, got, want)
			}
			leads = "b"
		}
		if n, err := w.Node("door"); err != nil || n.Name() != "b" {
			t.Errorf("a fault that names it affects %v, %v", n, err)
		}
		return nil
	})
}

// editor is a server with all abilities that concern bytes.
type editor struct{ Sink }

// JoinWrites implements [sim.Joiner].
func (*editor) JoinWrites() {}

// Canonical implements [sim.Canonical].
func (*editor) Canonical(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte("go1.26.8"), []byte("go"))
}

// Describe implements [sim.Describer].
func (*editor) Describe(dir sim.Direction, b []byte) trace.Content {
	return trace.Text(fmt.Sprintf("%s: %d bytes", dir, len(b)))
}

// TestByteAbilities shows that writes of one instant are joined, that facts of
// the machine are replaced before they are sent, and that the trace has the
// server's description, each only for servers with the ability.
func TestByteAbilities(t *testing.T) {
	for _, tt := range []struct {
		server func(n *sim.Node) sim.Server
		sink   func(s sim.Server) *Sink
		got    []int
		sent   []string
	}{
		{newSink, func(s sim.Server) *Sink { return s.(*Sink) }, []int{9, 2, 5}, []string{"#1 go1.26.8", "#1 or", "#1 later",
			"#1 hello"}},
		{func(n *sim.Node) sim.Server { return &editor{Sink{node: n}} },
			func(s sim.Server) *Sink { return &s.(*editor).Sink },
			[]int{5, 5}, []string{"#1 up: 5 bytes", "#1 up: 5 bytes", "#1 down: 5 bytes"}},
	} {
		res := run(t, one(tt.server), func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				c := dial(p, "s")
				mustWrite(c, "go1.26.8 ")
				mustWrite(c, "or")
				rest(w, 10*time.Millisecond)
				mustWrite(c, "later")
				rest(w, 10*time.Millisecond)
				s := tt.sink(w.Nodes()[0].Server()).Conns[0]
				if !slices.Equal(s.Sizes, tt.got) {
					t.Errorf("%q arrived, in pieces of %v, want %v", s.Got, s.Sizes, tt.got)
				}
				s.Send([]byte("hello"))
				must(t, readErr(c))
				_ = c.Close()
			})
			return w.RunUntil(w.Idle)
		})
		var sent []string
		for _, e := range res.Trace.Events {
			if _, ok := e.What.(trace.Send); ok {
				sent = append(sent, strings.TrimSpace(e.Text()))
			}
		}
		if !slices.Equal(sent, tt.sent) {
			t.Errorf("the trace has %q, want %q", sent, tt.sent)
		}
	}
}

// TestFence shows that a fenced-off server resets its connections, refuses new
// ones, and works again after a restart.
func TestFence(t *testing.T) {
	run(t, one(newSink), func(w *sim.World) error {
		p, n := w.Client(0), w.Nodes()[0]
		p.Go(func() {
			c := dial(p, "s")
			w.Do(n.Fence)
			if err := readErr(c); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("an old connection: %v", err)
			}
			if _, err := p.Dial(context.Background(), "tcp", "s"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("a dial: %v", err)
			}
			w.Do(func() { must(t, w.Faults().Restart("s")) })
			_ = dial(p, "s").Close()
		})
		return w.RunUntil(w.Idle)
	})
}

// refused is a kind that is invalid.
type refused struct{ kind }

func (refused) Validate() error { return errors.New("there are none") }

// A world says what its servers are: the kind and the role that they were given, and who replicates whom. The hash of
// the trace does not have it.
func TestServersAreToldApart(t *testing.T) {
	three := func(named func(sim.Kind) sim.Kind, families bool) *trace.Trace {
		group := kind(func(b *sim.Builder) {
			first, _, replica := b.Add("r0", 9, newSink), b.Add("r1", 9, newSink), b.Add("r0a", 9, newSink)
			if families {
				b.Family(first, replica)
			}
		})
		single := kind(func(b *sim.Builder) { b.Add("reg0", 9, newSink) })
		res, err := sim.Run(sim.Config{Servers: []sim.Kind{named(group), single}}, func(*sim.World) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return res.Trace
	}
	plain := three(func(k sim.Kind) sim.Kind { return k }, false)
	named := func(k sim.Kind) sim.Kind { return sim.Named{Kind: k, Name: "redis", Role: trace.RoleSingle} }
	told := three(named, true)
	want := trace.Servers{
		{Name: "r0", Kind: "redis", Family: "r0", Role: trace.RolePrimary},
		{Name: "r1", Kind: "redis", Role: trace.RoleSingle},
		{Name: "r0a", Kind: "redis", Family: "r0", Role: trace.RoleReplica}, {Name: "reg0"},
	}
	if diff := cmp.Diff(want, told.Servers); diff != "" || plain.Hash() != told.Hash() ||
		string(plain.JSON()) != string(told.JSON()) {
		t.Errorf("the hashes are %s and %s; %s", plain.Hash(), told.Hash(), diff)
	}
	s := told.Servers
	if !s.InFamily("r0a") || s.InFamily("r1") || s.InFamily("nobody") || s.Has("nobody", "") ||
		!s.Has("r1", trace.RoleSingle) {
		t.Errorf("who is in the family: %+v", s)
	}
	if _, err := sim.Run(sim.Config{Servers: []sim.Kind{named(refused{})}},
		func(*sim.World) error { return nil }); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Errorf("an invalid kind with a name: %v", err)
	}
}
