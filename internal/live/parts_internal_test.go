//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
	"locksim/internal/child"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/scenarios/file"
	facts "locksim/scenarios/kinds/server"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// A clock shows a time at the instant that when says, at every rate at which it gets there.
func TestClockReadings(t *testing.T) {
	for _, ppm := range []int64{0, 10_000, -500_000, 9_000_000} {
		r := reading{From: 1_000, Base: 5_000, PPM: ppm}
		for _, shown := range []int64{5_000, 5_001, 3_000_000_000, 86_400_000_000_000} {
			at, ok := r.when(shown)
			if !ok {
				t.Fatalf("at %d ppm it never shows %d", ppm, shown)
			}
			if got := r.at(at); got < shown-1_000 || got > shown+1_000 {
				t.Errorf("at %d ppm it shows %d at the instant of %d", ppm, got, shown)
			}
		}
	}
	if at, ok := (reading{From: 1, Base: 1, PPM: faults.MinPPM}).when(2); ok {
		t.Errorf("a clock that stands still gets on at %d", at)
	}
}

// A healed network has delivered what was held when the parent had its turn often enough, however long that takes.
func TestQuietCountsTurns(t *testing.T) {
	w := &World{}
	w.beats.Store(7)
	w.Heal()
	for i := range settled {
		if w.Quiet() {
			t.Fatalf("quiet after %d turns", i)
		}
		w.beats.Add(1)
	}
	if !w.Quiet() {
		t.Error("never quiet")
	}
}

// A sleeper by a clock that stands still wakes when the clock goes on, and not before.
func TestSleepByAFrozenClock(t *testing.T) {
	now := reading{From: monotonic(), PPM: faults.MinPPM}
	c := newClock(now)
	woke := make(chan error, 1)
	go func() { woke <- c.Sleep(context.Background(), time.Millisecond) }()
	select {
	case err := <-woke:
		t.Fatalf("it woke by a clock that stands still: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	c.set(reading{From: monotonic()})
	if err := <-woke; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
}

// A timer is called once, or cancelled, never both.
func TestAfterFunc(t *testing.T) {
	c := newClock(reading{From: monotonic()})
	fired := make(chan struct{})
	stop := c.AfterFunc(time.Millisecond, func() { close(fired) })
	<-fired
	if stop() {
		t.Error("a timer that has fired is cancelled")
	}
	stop = c.AfterFunc(time.Hour, func() { t.Error("a cancelled timer fires") })
	if !stop() || stop() {
		t.Error("the first cancellation is the one that counts")
	}
}

// An error has the text, and is the errors, that it was in the other process.
func TestErrorsCross(t *testing.T) {
	for _, err := range []error{
		nil, lock.ErrNotHeld, errors.New("plain"),
		fmt.Errorf("release order: %w", lock.ErrNotHeld),
		fmt.Errorf("acquire: %w: %w", lock.ErrOutcomeUnknown, context.DeadlineExceeded),
		errors.Join(lock.ErrTaken, fmt.Errorf("again: %w", context.Canceled)),
	} {
		got := problemOf(err).err()
		if (got == nil) != (err == nil) || err != nil && got.Error() != err.Error() {
			t.Errorf("%v became %v", err, got)
		}
		for name, k := range known {
			if errors.Is(got, k) != errors.Is(err, k) {
				t.Errorf("%v is %s: %v, it became %v", err, name, errors.Is(err, k), errors.Is(got, k))
			}
		}
	}
}

// A request under a context that has ended is served under such a one: a lock that sends nothing then sends nothing.
func TestEndedContextCrosses(t *testing.T) {
	here, there := net.Pipe()
	defer func() { _, _ = here.Close(), there.Close() }()
	served := newLink(child.NewWriter(there), func(ctx context.Context, _ frame) (any, error) { return nil, ctx.Err() })
	go served.read(child.NewReader(there))
	asks := newLink(child.NewWriter(here), nil)
	go asks.read(child.NewReader(here))
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := asks.call(ctx, askRelease, nil, nil); err != nil {
			t.Fatalf("under a context that has not ended: %v", err)
		}
		cancel()
		if _, err := asks.call(ctx, askRelease, nil, nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("under one that has ended: %v", err)
		}
	}
}

// A wire has the directions of Toxiproxy as the fault means them, from either side.
func TestStreams(t *testing.T) {
	both := []string{"upstream", "downstream"}
	for _, c := range []struct {
		wire           faults.Wire
		client, server string
		want           []string
	}{
		{faults.Wire{Between: []string{"c0"}}, "c0", "r0", both},
		{faults.Wire{Between: []string{"c0"}}, "c1", "r0", nil},
		{faults.Wire{Between: []string{"c0"}, And: []string{"s0"}}, "c0", "r0", nil},
		{faults.Wire{Between: []string{"c0"}, And: []string{"r0"}, Direction: faults.DirectionForward}, "c0", "r0", both[:1]},
		{faults.Wire{Between: []string{"c0"}, And: []string{"r0"}, Direction: faults.DirectionBackward}, "c0", "r0",
			both[1:]},
		{faults.Wire{Between: []string{"r0"}, And: []string{"r0a"}, Direction: faults.DirectionForward}, "r0a", "r0",
			both[1:]},
	} {
		if got := streams(c.wire, c.client, c.server); !slices.Equal(slices.Sorted(slices.Values(got)),
			slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%v between %s and %s: %v, want %v", c.wire, c.client, c.server, got, c.want)
		}
	}
}

// Every duration of a scenario is multiplied, and the file stays as it was.
func TestScaled(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	at := Scaled(sc, 0.1)
	pause := at.Faults[0].Action.(faults.Pause)
	if at.Lock.TTL != time.Second || at.Workload.Hold != 200*time.Millisecond || pause.For != 1500*time.Millisecond {
		t.Errorf("TTL %v, hold %v, %v", at.Lock.TTL, at.Workload.Hold, pause)
	}
	if l := at.World.Latency; l != sc.World.Latency || l.Min == 0 { // that of a message
		t.Errorf("latency %v, in the file %v", l, sc.World.Latency)
	}
	sc.World.Latency.Max, sc.Faults[0].After = 40*time.Millisecond, time.Millisecond
	if again := Scaled(sc, 0.2); again.World.Latency.Max != 8*time.Millisecond ||
		again.Faults[0].After != time.Millisecond {
		t.Errorf("latency %v, after %v", again.World.Latency, again.Faults[0].After)
	}
	if sc.Lock.TTL != 10*time.Second || sc.Faults[0].Action.(faults.Pause).For != 15*time.Second {
		t.Error("the scenario itself has changed")
	}
	if err := at.Validate(); err != nil {
		t.Error(err)
	}
}

// All scenarios of the library are valid at the usual scale.
func TestLibraryScaled(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range all {
		if err := Scaled(sc, DefaultScale).Validate(); err != nil {
			t.Errorf("%s: %v", sc.Name, err)
		}
	}
}

// A scale is refused at which the servers cannot keep the lease, or come back from a crash in a small part of it, with
// the least one that works, which is the default.
func TestScaleIsRefused(t *testing.T) {
	redis, err := redislocks.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	on := func(kind, prefix string, count int, settles time.Duration) subject.Lock {
		return subject.Lock{Name: kind,
			Traits: subject.Traits{
				Servers: []subject.Servers{{Kind: subject.ServerKind{Facts: facts.Facts{Name: kind, Prefix: prefix,
					Leader: "leader"}, Settles: settles},
					Count: count}},
			}}
	}
	sentinels, cluster := on("sentinel", "sen", 3, 0), on("cluster", "rc", 6, time.Minute)
	etcd, zookeeper, postgres := on("etcd", "e", 3, time.Minute), on("zookeeper", "z", 3, time.Minute),
		on("postgres", "p", 1, 0)
	for _, c := range []struct {
		scenario string
		l        subject.Lock
		scale    float64
		want     string // "" for none
		least    float64
	}{
		{"gc-pause", redis, 0.1, "", 0.1},
		{"gc-pause", redis, 0.005, "give --scale 0.01 or more", 0.1},
		{"gc-pause", redis, 0, "above 0", 0.1},
		{"gc-pause", redis, -1, "above 0", 0.1},
		{"process-crash-everysec", redis, 0.1, "", 0.1},
		{"process-crash-everysec", redis, 0.015, "redis needs up to 20ms to serve again after a crash", 0.1},
		{"sentinel-failover", sentinels, 0.9, "give --scale 1 or more", 1},
		{"sentinel-hasty", sentinels, 1, "", 1},
		{"cluster-failover", cluster, 0.9, "vote and wait at intervals of their own", 1},
		{"cluster-empty-primary", cluster, 1, "", 1}, // it is back after 20ms, a small part of a lease
		{"gc-pause", etcd, 0.1, "give --scale 0.2 or more", 0.2},
		{"gc-pause", etcd, 0.2, "", 0.2},
		{"etcd-leader-crash", etcd, 0.2, "", 0.2}, // two of three go on
		{"etcd-restart", etcd, 0.4, "etcd needs up to 1s to serve again after a crash", 0.5},
		{"etcd-restart", etcd, 0.5, "", 0.5},
		{"zk-leader-crash", zookeeper, 0.4, "", 0.4},
		{"zk-restart", zookeeper, 0.7, "give --scale 0.75 or more", 0.75},
		{"gc-pause", postgres, 0.1, "", 0.1},
		{"gc-pause", postgres, 0.04, "give --scale 0.05 or more", 0.1},
		{"sql-server-crash", postgres, 0.1, "postgres needs up to 300ms to serve again after a crash", 0.3},
		{"sql-server-crash", postgres, 0.3, "", 0.3},
		{"sql-server-crash", redis, 0.1, "", 0.1}, // its servers do not crash
	} {
		sc, err := file.Load(c.scenario)
		if err != nil {
			t.Fatal(err)
		}
		err = checkScale(sc, c.l, c.scale)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with lock %s, scale %v: %v, want %q", c.scenario, c.l.Name, c.scale, err, c.want)
		}
		if got := ScaleFor(sc, c.l, DefaultScale); got != c.least {
			t.Errorf("%s with lock %s: the scale is %v, want %v", c.scenario, c.l.Name, got, c.least)
		}
	}
}

// A server that is back later than its kind needs makes the machine late.
func TestLateReturn(t *testing.T) {
	w := new(World)
	for _, by := range []time.Duration{-time.Second, 3 * time.Millisecond, 2 * time.Millisecond} {
		w.wasLate(int64(by))
	}
	if late := time.Duration(w.late.Load()); late != 3*time.Millisecond {
		t.Errorf("the machine was late by %v", late)
	}
}

// A ZooKeeper counts in ticks that fit the lease: it would make a session of 20s one of 4s if a tick were 200ms.
func TestTicks(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	sc.Lock.TTL = 20 * time.Second
	l := subject.Lock{Traits: subject.Traits{
		Servers: []subject.Servers{{Kind: subject.ServerKind{Facts: facts.Facts{Name: string(server.ZooKeeper), Prefix: "z"}},
			Count: 3}}}}
	if o := wanted(sc, l); len(o) != 1 || 2*o[0].Tick > sc.Lock.TTL || 20*o[0].Tick < sc.Lock.TTL {
		t.Errorf("the servers are %+v", o)
	}
}

// What a Sentinel publishes names servers, and neither addresses nor ids.
func TestSentinelWords(t *testing.T) {
	known := map[string]string{"127.0.0.1:1": "r0", "127.0.0.1:2": "r0a", "127.0.0.1:3": "sen1", "abc": "sen1"}
	for _, c := range []struct{ event, text, want string }{
		{"+sdown", "master mymaster 127.0.0.1 1", "r0"},
		{"+odown", "master mymaster 127.0.0.1 1 #quorum 2/2", "r0 #quorum 2/2"},
		{"+slave-reconf-sent", "slave 127.0.0.1:2 127.0.0.1 2 @ mymaster 127.0.0.1 1", "r0a"},
		{"+sdown", "sentinel abc 127.0.0.1 3 @ mymaster 127.0.0.1 1", "sen1"},
		{"+switch-master", "mymaster 127.0.0.1 1 127.0.0.1 2", "r0a in place of r0"},
		{"+vote-for-leader", "abc 7", "sen1 in epoch 7"},
		{"+new-epoch", "7", "7"},
		{"+tilt", "#tilt mode entered", ""},
	} {
		if got := about(c.event, c.text, known); got != c.want {
			t.Errorf("%s %q is about %q, want %q", c.event, c.text, got, c.want)
		}
	}
}

// A gate leads each server through the proxy of its pair, refuses those that it does not know, and those that come
// while it is shut.
func TestGate(t *testing.T) {
	w := &World{toxiproxy: newToxiproxy(), scenario: &file.Scenario{}}
	w.ctx, w.end = context.WithCancel(t.Context())
	defer w.end()
	var err error
	if w.silence, err = listen(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.silence.Close() }()
	echo, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = echo.Close() }()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	a, errA := w.openGate("rc0", echo.Addr().String(), echo.Addr().String())
	b, errB := w.openGate("sen0", echo.Addr().String(), "")
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	answers := func(source, addr string) bool {
		from, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(source, "0"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := (&net.Dialer{LocalAddr: from}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			return false
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = io.WriteString(c, "x")
		_, err = io.ReadFull(c, make([]byte, 1))
		return err == nil
	}
	if !answers(b.Source, a.Addr) || !answers(b.Source, a.Bus) || !answers(a.Source, b.Addr) {
		t.Fatal("a gate does not lead to its server")
	}
	if b.Bus != "" {
		t.Errorf("a server without a bus is told that it has one: %s", b.Bus)
	}
	if answers("127.0.0.1", a.Addr) || answers("127.0.0.1", a.Bus) {
		t.Error("a gate leads one that it does not know")
	}
	for _, silent := range []bool{false, true} {
		w.gateOf("rc0").shut(+1, silent)
		if answers(b.Source, a.Addr) || answers(b.Source, a.Bus) {
			t.Errorf("shut, silent %v: it leads on", silent)
		}
		w.gateOf("rc0").reopen()
	}
	pair := faults.Wire{Between: []string{"rc0"}, And: []string{"sen0"}}
	cut, err := w.putToxic("cut", pair, func() toxics.Toxic { return new(faults.Drop) })
	if err != nil {
		t.Fatal(err)
	}
	if answers(b.Source, a.Addr) || answers(b.Source, a.Bus) || answers(a.Source, b.Addr) {
		t.Error("servers that are cut off from each other talk")
	}
	w.takeToxic(cut)
	if !answers(b.Source, a.Addr) {
		t.Error("after the cut they do not talk")
	}
	again, err := w.openGate("rc0", echo.Addr().String(), echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if !answers(b.Source, again.Addr) || !answers(again.Source, b.Addr) || answers(b.Source, a.Addr) {
		t.Error("a server that was started again has not the new gate alone")
	}
	if want := 3; len(w.gates) != 2 || len(w.servers.links) != want { // to two ports, and to one
		t.Errorf("there are %d gates, and %d proxies, not %d", len(w.gates), len(w.servers.links), want)
	}
	if err := w.servers.close(); err != nil {
		t.Error(err)
	}
}
