package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	pathpkg "path"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// This file fills the places that the build overlay of locksim adds to the standard
// library: see [Overlaid]. Without the overlay these variables are ours alone, and nothing
// reads them.

//go:linkname overlayVersion time.locksimOverlay
var overlayVersion string

//go:linkname overlayClocks time.locksimClocks
var overlayClocks func(labels unsafe.Pointer, now int64) (wall, mono int64, ok bool)

//go:linkname overlayTicks time.locksimTicks
var overlayTicks func(labels unsafe.Pointer) func(now int64) (wall, mono int64)

//go:linkname overlayDuration time.locksimDuration
var overlayDuration func(labels unsafe.Pointer, d time.Duration) time.Duration

//go:linkname overlayPass time.locksimPass
var overlayPass func(labels unsafe.Pointer, what string)

//go:linkname overlayNow time.locksimNow
var overlayNow func() time.Time

//go:linkname overlayAt time.locksimAt
var overlayAt func(wall, mono int64) time.Time

//go:linkname overlayGosched runtime.locksimGosched
var overlayGosched func()

//go:linkname overlayBubble runtime.locksimBubble
var overlayBubble func() unsafe.Pointer

//go:linkname overlayDial net.locksimDial
var overlayDial func(ctx context.Context, network, address string) (c net.Conn, ok bool, err error)

//go:linkname overlaySocket net.locksimSocket
var overlaySocket func(network, address string) error

//go:linkname overlayRandV1 math/rand.locksimRand
var overlayRandV1 func() (n uint64, ok bool)

//go:linkname overlayRandV2 math/rand/v2.locksimRand
var overlayRandV2 func() (n uint64, ok bool)

//go:linkname overlaySetReader crypto/internal/rand.locksimSetReader
var overlaySetReader func(r io.Reader)

//go:linkname overlaySync os.locksimSync
var overlaySync func(f *os.File) (done bool)

//go:linkname overlayOwns os.locksimOwns
var overlayOwns func(name string) bool

//go:linkname overlayOpened os.locksimOpened
var overlayOpened func(f *os.File)

//go:linkname overlayWrote os.locksimWrote
var overlayWrote func(f *os.File)

// wantedOverlay is the version of the overlay that this package fits.
const wantedOverlay = "2"

// ErrOverlay is returned by [Run] in a program that was built with the overlay of another
// version of locksim.
var ErrOverlay = errors.New("this program was built with a build overlay of another version of locksim: make it anew " +
	"with: locksim overlay")

// Overlaid reports whether this program was built with the overlay that "locksim overlay"
// makes. Then all code that a process runs, also what knows nothing of locksim, has the
// clocks, the network and the random numbers of its process:
//
//   - time.Now has the wall clock and the monotonic clock of the process. It does not wait
//     while the process is paused.
//   - Timers, time.Sleep and the deadlines of contexts go by the clock of the process, at
//     its rate when they begin. Functions of time.AfterFunc, and what follows time.Sleep,
//     wait while the process is paused; channels of timers do not.
//   - runtime.Gosched lets a little virtual time pass, and waits while the process is paused.
//   - net.Dialer dials in the world. Any other socket ends the run with an [*OutsideError].
//   - math/rand, math/rand/v2 and crypto/rand have a seeded source for each process, the first
//     two also for code of servers.
//   - A [Disk] knows which of its files are synchronised.
//
// Code belongs to a process if a goroutine of [Process.Go] or [Process.Do] has started it,
// by way of any number of goroutines and timers.
func Overlaid() bool { return overlayVersion == wantedOverlay }

func checkOverlay() error {
	if overlayVersion != "" && overlayVersion != wantedOverlay {
		return ErrOverlay
	}
	return nil
}

// OutsideError ends a run in which a process opened a socket of the operating system.
type OutsideError struct {
	Process string
	// Network and Address are those of the socket, as package net names them.
	Network, Address string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s opened a socket of the operating system, %s %s, which leads out of the world: dial the "+
		"servers by net.Dialer, or by the dialer of the environment",
		e.Process, e.Network, e.Address)
}

// fillOverlay lets the standard library ask for the process of a goroutine.
var fillOverlay = sync.OnceFunc(func() {
	if !Overlaid() {
		return
	}
	overlayClocks = func(labels unsafe.Pointer, now int64) (wall, mono int64, ok bool) {
		p := processOf(labels)
		if p == nil {
			return 0, 0, false
		}
		p.clock.used(true)
		p.sawWall.Store(true)
		wall, mono = p.readings(now)
		return wall, mono, true
	}
	overlayTicks = func(labels unsafe.Pointer) func(now int64) (wall, mono int64) {
		if p := processOf(labels); p != nil {
			return p.readings
		}
		return nil
	}
	overlayDuration = func(labels unsafe.Pointer, d time.Duration) time.Duration {
		p := processOf(labels)
		if p == nil {
			return d
		}
		p.clock.used(false)
		return p.clock.worldDuration(d) + p.tieBreak()
	}
	overlayGosched = func() {
		if p := thisProcess(); p != nil {
			p.spin()
		}
	}
	overlayPass = func(labels unsafe.Pointer, what string) {
		if p := processOf(labels); p != nil {
			_ = p.gate.pass(what) // a crashed process may go on: it can no longer act
		}
	}
	overlayDial = func(ctx context.Context, network, address string) (net.Conn, bool, error) {
		p := thisProcess()
		if p == nil {
			return nil, false, nil
		}
		c, err := p.Dial(ctx, network, address)
		return c, true, err
	}
	overlaySocket = func(network, address string) error {
		p := thisProcess()
		if p == nil {
			return nil
		}
		err := &OutsideError{p.name, network, address}
		p.w.time.fail(err)
		return err
	}
	draw := func() (uint64, bool) {
		if p := thisProcess(); p != nil {
			return p.global.Uint64(), true
		}
		return ofNoProcess()
	}
	overlayRandV1, overlayRandV2 = draw, draw
	overlaySync, overlayOpened, overlayWrote = syncedFile, openedToSync, wroteFile
	overlayOwns = func(name string) bool { return diskOf(name) != nil }
})

// ofNoProcess draws a random number for code of a world that is in no process: that of a server which was not
// written for a simulated world. The number depends on the place in the code, on the time, and on how often that
// place has asked at this time, and not on what other goroutines ask meanwhile. ok is false outside of a world.
func ofNoProcess() (n uint64, ok bool) {
	known, ok := askers.Load(overlayBubble())
	if !ok {
		return 0, false
	}
	a := known.(*asker)
	place, digest := callers()
	now := a.w.time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil || a.at != now {
		a.at, a.count = now, map[stack]int64{}
	}
	a.count[place]++
	return a.w.chance.draw("math/rand").Num(int64(now)).Num(int64(digest)).Num(a.count[place]).Value(), true
}

// askers are the worlds of the runs that are under way.
var askers sync.Map // of the bubble: unsafe.Pointer → *asker

// asker is a world whose code asks for random numbers outside of all processes.
type asker struct {
	w     *World
	mu    sync.Mutex
	at    time.Duration
	count map[stack]int64
}

// seedOthers makes the bubble of the calling goroutine that of the world, for [ofNoProcess], until [unseedOthers].
func (w *World) seedOthers() {
	if Overlaid() {
		askers.Store(overlayBubble(), &asker{w: w})
	}
}

func unseedOthers() {
	if Overlaid() {
		askers.Delete(overlayBubble())
	}
}

// tieBreak is an additional duration for a timer that code of the process starts, up to a
// microsecond: timers that two places of the code start in one instant for the same
// duration would end in one, and their goroutines would race.
func (p *Process) tieBreak() time.Duration {
	_, d := callers()
	return time.Duration(d.Str(p.name).Between(0, 999))
}

// stack is where a goroutine calls the standard library.
type stack [32]uintptr

// stacksSeen has the digest of each stack that has been seen, by its files and lines.
var stacksSeen sync.Map // stack → Draw

// callers is the stack of the calling goroutine, and its digest.
func callers() (stack, Draw) {
	var s stack
	n := runtime.Callers(4, s[:])
	if known, ok := stacksSeen.Load(s); ok {
		return s, known.(Draw)
	}
	d := Draw(14695981039346656037)
	for frames, more := runtime.CallersFrames(s[:n]), n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		d = d.Str(pathpkg.Base(f.File)).Num(int64(f.Line)) // a function that is inlined has several names
	}
	stacksSeen.Store(s, d)
	return s, d
}

// spin is runtime.Gosched, by which a goroutine waits for another one. It returns when
// everything else is blocked. Called again in the same instant it lets virtual time pass,
// since only that can help, and waits while the process is paused.
func (p *Process) spin() {
	place, _ := callers()
	t := p.w.time
	now := t.Now()
	if before, ok := p.spins.Swap(place, now); !ok || before != now {
		blocked := make(chan struct{})
		t.outbox.post(entry{where: p.name, rank: rankNode, label: "Gosched", commit: func() { close(blocked) }})
		select {
		case <-blocked:
		case <-t.closed:
		}
		return
	}
	time.Sleep(spinStep - now%spinStep)
}

// spinStep bounds how late a goroutine that spins finds what it waits for.
const spinStep = 100 * time.Microsecond

// readings are the clocks of the process, in nanoseconds of Unix time, when that of the
// bubble shows now. The runtime calls it too: it must not wait.
func (p *Process) readings(now int64) (wall, mono int64) {
	start := p.w.time.start.UnixNano()
	elapsed := time.Duration(now - start)
	shown := func(d time.Duration) int64 { return start + int64(d-p.w.intoStep(d)) }
	return shown(p.clock.wall(elapsed)), shown(p.clock.monotonic(elapsed))
}

// inBubble is when the bubble's clock shows what the process's clock will show at t, at its
// present rate. It is for goroutines of the process.
func (p *Process) inBubble(t time.Time) time.Time {
	return bubbleNow().Add(p.clock.worldDuration(max(time.Until(t), 0)))
}

// bubbleNow is the time of the bubble, whichever process asks.
func bubbleNow() time.Time {
	if overlayNow != nil {
		return overlayNow()
	}
	return time.Now()
}
