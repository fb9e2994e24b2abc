package sim_test

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	randv2 "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/redis"
)

// kept is what a library keeps of crypto/rand when the program begins.
var kept = crand.Reader

// needsOverlay skips a test of code that knows nothing of the world, in a program that
// was built without the overlay. Package internal/overlay runs these tests with it.
func needsOverlay(t *testing.T) {
	t.Helper()
	if !sim.Overlaid() {
		t.Skip("built without the overlay: internal/overlay runs this test with it")
	}
}

// inWorld runs f on a goroutine of c0 that a goroutine of c0 has started, and returns what
// it said.
func inWorld(t *testing.T, faults func(w *sim.World) error, f func(p *sim.Process, say func(string, ...any))) []string {
	t.Helper()
	said, err := tryInWorld(1, faults, f)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func tryInWorld(seed uint64, faults func(w *sim.World) error,
	f func(p *sim.Process, say func(string, ...any))) ([]string, error) {
	var mu sync.Mutex
	var said []string
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, args...))
	}
	cfg := sim.Config{Seed: seed, Clients: 2, Servers: []sim.Kind{redis.Servers{}}}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			done := make(chan struct{})
			go func() {
				defer close(done)
				f(p, say)
			}()
			<-done
		})
		if err := faults(w); err != nil {
			return err
		}
		return w.RunUntil(w.Idle)
	})
	return said, err
}

func none(*sim.World) error { return nil }

func wantSaid(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// whole is a duration without the fraction of a millisecond that keeps timers apart.
func whole(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// time.Now has the wall clock of the process, which jumps, and its monotonic one, which
// does not. Goroutines of timers and of contexts are those of the process.
func TestOverlayWallClock(t *testing.T) {
	needsOverlay(t)
	jump := func(w *sim.World) error {
		w.At(time.Second, func() { _ = w.Faults().JumpClock("c0", time.Hour) })
		w.At(time.Second, func() { _ = w.Faults().JumpClock("c1", -time.Hour) })
		return nil
	}
	wantSaid(t, inWorld(t, jump, func(_ *sim.Process, say func(string, ...any)) {
		start := time.Now()
		say("at once %v", whole(time.Since(start)))
		report := func(who string, now time.Time) {
			say("%s: wall %v, monotonic %v", who, whole(now.Round(0).Sub(start.Round(0))), whole(now.Sub(start)))
		}
		time.Sleep(2 * time.Second)
		report("slept", time.Now())
		report("channel", <-time.After(time.Second))
		done := make(chan struct{})
		time.AfterFunc(time.Second, func() { report("function", time.Now()); close(done) })
		<-done
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		deadline, _ := ctx.Deadline()
		done = make(chan struct{})
		context.AfterFunc(ctx, func() { report("context", time.Now()); close(done) })
		<-done
		report("deadline", deadline)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		<-ticker.C
		report("ticker", <-ticker.C)
		pprof.Do(context.Background(), pprof.Labels("of", "the library"),
			func(context.Context) { report("unlabelled", time.Now()) })
	})[:7],
		"at once 0s",
		"slept: wall 1h0m2s, monotonic 2s",
		"channel: wall 1h0m3s, monotonic 3s",
		"function: wall 1h0m4s, monotonic 4s",
		"context: wall 1h0m5s, monotonic 5s",
		"deadline: wall 1h0m5s, monotonic 5s",
		"ticker: wall 1h0m7s, monotonic 7s",
	)
}

// Code that adds labels to those of its context stays in its process.
func TestOverlayKnowsMoreLabels(t *testing.T) {
	needsOverlay(t)
	jump := func(w *sim.World) error { return w.Faults().JumpClock("c0", time.Hour) }
	wantSaid(t, inWorld(t, jump, func(p *sim.Process, say func(string, ...any)) {
		pprof.Do(p.Context(), pprof.Labels("of", "the library", "a", "b"), func(context.Context) {
			say("ahead by %v", whole(time.Now().Round(0).Sub(p.Clock().Now().Round(0))))
			done := make(chan struct{})
			go func() { say("ahead by %v", whole(time.Until(p.WallClock().Now()))); close(done) }()
			<-done
		})
	}), "ahead by 0s", "ahead by 0s")
}

// A select with two ready cases takes the same one in each run, and not always the first.
func TestOverlaySelect(t *testing.T) {
	needsOverlay(t)
	choices := func() []string {
		return inWorld(t, func(*sim.World) error { return nil }, func(_ *sim.Process, say func(string, ...any)) {
			a, b, taken := make(chan int, 1), make(chan int, 1), ""
			a <- 0
			b <- 0
			for range 64 {
				time.Sleep(time.Millisecond)
				select {
				case <-a:
					a <- 0
					taken += "a"
				case <-b:
					b <- 0
					taken += "b"
				}
			}
			say("%s", taken)
		})
	}
	first := choices()
	if len(first) != 1 || !strings.Contains(first[0], "a") || !strings.Contains(first[0], "b") {
		t.Errorf("the choices are %q", first)
	}
	for range 3 {
		if again := choices(); !slices.Equal(again, first) {
			t.Errorf("the choices are %q, and before %q", again, first)
		}
	}
}

// Goroutines that race with each other come in the same order in each run.
func TestOverlayRace(t *testing.T) {
	needsOverlay(t)
	race := func() []string {
		return inWorld(t, func(*sim.World) error { return nil }, func(_ *sim.Process, say func(string, ...any)) {
			var next atomic.Int32
			var wait sync.WaitGroup
			order := make([]int32, 16)
			for i := range order {
				wait.Go(func() {
					for range 1000 {
						order[i] = next.Add(1)
					}
				})
			}
			wait.Wait()
			say("%v", order)
		})
	}
	first := race()
	for range 100 {
		if again := race(); !slices.Equal(again, first) {
			t.Fatalf("the order is %q, and before %q", again, first)
		}
	}
}

// Timers go by the rate of the process's clock.
func TestOverlayDrift(t *testing.T) {
	needsOverlay(t)
	drift := func(w *sim.World) error { return w.Faults().DriftClock("c0", 1_000_000, 0) }
	var world time.Duration
	wantSaid(t, inWorld(t, func(w *sim.World) error {
		w.At(7*time.Second, func() { world = w.Now() })
		return drift(w)
	}, func(_ *sim.Process, say func(string, ...any)) {
		time.Sleep(time.Millisecond) // the drift begins
		start := time.Now()
		time.Sleep(10 * time.Second)
		say("slept for %v, before %v of the world", whole(time.Since(start)), world+7*time.Second)
	}), "slept for 10s, before 7s of the world")
}

// A function of a timer, and what follows a sleep, wait for the end of a pause.
func TestOverlayPause(t *testing.T) {
	needsOverlay(t)
	pause := func(w *sim.World) error {
		w.At(time.Second, func() { _ = w.Faults().Pause("c0", 10*time.Second) })
		return nil
	}
	wantSaid(t, inWorld(t, pause, func(_ *sim.Process, say func(string, ...any)) {
		start := time.Now()
		done := make(chan struct{})
		time.AfterFunc(2*time.Second, func() { say("function after %v", whole(time.Since(start))); close(done) })
		time.Sleep(3 * time.Second)
		slept := whole(time.Since(start))
		<-done
		say("slept for %v", slept)
	}), "function after 11s", "slept for 11s")
}

// net.Dial leads into the world.
func TestOverlayDial(t *testing.T) {
	needsOverlay(t)
	wantSaid(t, inWorld(t, none, func(p *sim.Process, say func(string, ...any)) {
		c, err := net.DialTimeout("tcp", p.Address("r0"), time.Second)
		if err != nil {
			say("%v", err)
			return
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte("PING\r\n"))
		line, err := bufio.NewReader(c).ReadString('\n')
		say("%q %v", line, err)
		_, err = c.Read(make([]byte, 1))
		say("%v", errors.Is(err, context.DeadlineExceeded) || strings.Contains(fmt.Sprint(err), "timeout"))
		_, err = net.Dial("tcp", "192.0.2.1:80")
		say("%v", err != nil)
	}), `"+PONG\r\n" <nil>`, "true", "true")
}

// A socket of the operating system ends the run.
func TestOverlaySocket(t *testing.T) {
	needsOverlay(t)
	_, err := tryInWorld(1, none, func(*sim.Process, func(string, ...any)) {
		if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			_ = l.Close()
		}
	})
	outside, ok := errors.AsType[*sim.OutsideError](err)
	if !ok || outside.Process != "c0" || outside.Address != "127.0.0.1:0" {
		t.Errorf("got %v", err)
	}
}

// Each process has its own random numbers, which the seed decides.
func TestOverlayRandom(t *testing.T) {
	needsOverlay(t)
	draw := func(seed uint64) []string {
		said, err := tryInWorld(seed, none, func(_ *sim.Process, say func(string, ...any)) {
			b, c := make([]byte, 8), make([]byte, 8)
			_, _ = kept.Read(b)
			_, _ = crand.Read(c)
			say("%d %d %s %s", rand.Int63(), randv2.Uint64(), hex.EncodeToString(b), hex.EncodeToString(c))
		})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	one := draw(1)
	wantSaid(t, draw(1), one...)
	if slices.Equal(one, draw(2)) {
		t.Errorf("two seeds give %v", one)
	}
	if a, b := randv2.Uint64(), randv2.Uint64(); a == b {
		t.Error("outside a run all numbers are the same")
	}
}

// A goroutine that waits for another one by runtime.Gosched does not stop time.
func TestOverlaySpin(t *testing.T) {
	needsOverlay(t)
	wantSaid(t, inWorld(t, none, func(_ *sim.Process, say func(string, ...any)) {
		start := time.Now()
		var ready atomic.Bool
		time.AfterFunc(time.Second, func() { ready.Store(true) })
		for !ready.Load() {
			runtime.Gosched()
		}
		say("after %v", whole(time.Since(start)))
		go ready.Store(false)
		for ready.Load() {
			runtime.Gosched()
		}
		say("after %v", whole(time.Since(start)))
	}), "after 1s", "after 1s")
}

// What two places of the code start for the same instant has one order.
func TestOverlayOrder(t *testing.T) {
	needsOverlay(t)
	order := func() string {
		return strings.Join(inWorld(t, none, func(_ *sim.Process, say func(string, ...any)) {
			var done sync.WaitGroup
			done.Add(4)
			go func() { time.Sleep(time.Second); say("a"); done.Done() }()
			go func() { <-time.After(time.Second); say("b"); done.Done() }()
			time.AfterFunc(time.Second, func() { say("c"); done.Done() })
			go func() { time.Sleep(time.Second); say("d"); done.Done() }()
			done.Wait()
		}), "")
	}
	first := order()
	for range 50 {
		if again := order(); again != first {
			t.Fatalf("%s, then %s", first, again)
		}
	}
}

// A loss of power takes what no (*os.File).Sync and no O_SYNC has put on the disk.
func TestOverlayDisk(t *testing.T) {
	needsOverlay(t)
	inWorld(t, none, func(*sim.Process, func(string, ...any)) {}) // the overlay is in force once a world has begun
	for mode, want := range map[faults.CrashMode]string{
		faults.CrashProcess: "one two|one two|one", faults.CrashPower: "one |one two|",
	} {
		var d sim.Disk
		folder, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		for name, flag := range map[string]int{"synced": 0, "through": os.O_SYNC} {
			f, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_WRONLY|flag, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			_, err = f.WriteString("one ")
			err = errors.Join(err, f.Sync())
			if _, late := f.WriteAt([]byte("two"), 4); errors.Join(err, late) != nil {
				t.Fatal(err, late)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "written"), []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.Crash(mode); err != nil {
			t.Fatal(err)
		}
		next, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = d.Close(), os.RemoveAll(next) }()
		var got []string
		for _, name := range []string{"synced", "through", "written"} {
			b, err := os.ReadFile(filepath.Join(next, name))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(b))
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s leaves %q, and not %q", mode, text, want)
		}
	}
}

// Code of a server that was not written for a simulated world has random numbers by the seed, whatever other
// goroutines ask meanwhile.
func TestOverlayRandOfServers(t *testing.T) {
	needsOverlay(t)
	draw := func(seed uint64) (out []string) {
		var mu sync.Mutex
		_, err := sim.Run(sim.Config{Seed: seed, Clients: 1}, func(w *sim.World) error {
			for range 3 {
				go func() {
					first := rand.Uint64()
					second := randv2.Uint64()
					mu.Lock()
					defer mu.Unlock()
					out = append(out, fmt.Sprint(first), fmt.Sprint(second))
				}()
			}
			return w.RunUntil(w.Idle)
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return out
	}
	first := draw(1)
	if again := draw(1); !slices.Equal(first, again) {
		t.Errorf("%v, then %v", first, again)
	}
	if other := draw(2); len(slices.Compact(slices.Sorted(slices.Values(append(other, first...))))) != 12 {
		t.Errorf("seed 1 has %v, seed 2 %v", first, other)
	}
}
