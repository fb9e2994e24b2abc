//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
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
	served := newLink(there, func(ctx context.Context, _ frame) (any, error) { return nil, ctx.Err() })
	go served.read(there)
	asks := newLink(here, nil)
	go asks.read(here)
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
		{faults.Wire{Between: []string{"c0"}, And: []string{"r0"}, Direction: faults.DirectionBackward}, "c0", "r0", both[1:]},
		{faults.Wire{Between: []string{"r0"}, And: []string{"r0a"}, Direction: faults.DirectionForward}, "r0a", "r0", both[1:]},
	} {
		if got := streams(c.wire, c.client, c.server); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(c.want))) {
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
	if again := Scaled(sc, 0.2); again.World.Latency.Max != 8*time.Millisecond || again.Faults[0].After != time.Millisecond {
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

// A scale is refused at which the servers cannot keep the lease, or come back from a crash in a small part of it, with the
// least one that works, which is the default.
func TestScaleIsRefused(t *testing.T) {
	redis, err := play.Kind("fenced")
	if err != nil {
		t.Fatal(err)
	}
	on := func(kind, prefix string, count int, settles time.Duration) play.Lock {
		return play.Lock{Name: kind, Servers: []play.Servers{{Kind: play.ServerKind{Name: kind, Prefix: prefix, Leader: "leader", Settles: settles}, Count: count}}}
	}
	etcd, zookeeper, postgres := on("etcd", "e", 3, time.Minute), on("zookeeper", "z", 3, time.Minute), on("postgres", "p", 1, 0)
	for _, c := range []struct {
		scenario string
		l        play.Lock
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
	l := play.Lock{Servers: []play.Servers{{Kind: play.ServerKind{Name: string(server.ZooKeeper), Prefix: "z"}, Count: 3}}}
	if o := wanted(sc, l); len(o) != 1 || 2*o[0].Tick > sc.Lock.TTL || 20*o[0].Tick < sc.Lock.TTL {
		t.Errorf("the servers are %+v", o)
	}
}
