package sim

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locksim/sim/trace"
)

// gate is what every seam of a process passes. It is open, shut while the
// process is paused, or broken for good when it has crashed.
type gate struct {
	p     *Process
	state atomic.Int32 // read without the mutex on the fast path

	mu      sync.Mutex
	pauses  int // pauses that have not ended yet
	waiting []*waiter
}

const (
	gateOpen int32 = iota
	gateShut
	gateBroken
)

// waiter is a goroutine held at a seam. When, where and in which code it is
// held tells it from others; those that are alike in all three are let go
// together, since only a race could tell them apart.
type waiter struct {
	seam    string
	arrived time.Duration
	code    string // the functions and lines of its stack
	letGo   chan struct{}
}

func compareWaiters(a, b *waiter) int {
	return cmp.Or(
		cmp.Compare(a.arrived, b.arrived),
		strings.Compare(a.seam, b.seam),
		strings.Compare(a.code, b.code),
	)
}

// ownCode describes the stack of the calling goroutine.
func ownCode() string {
	var pcs [64]uintptr
	var b strings.Builder
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "%s:%d\n", f.Function, f.Line)
		if !more {
			return b.String()
		}
	}
}

func (g *gate) init(p *Process) { g.p = p }

func (g *gate) isCrashed() bool { return g.state.Load() == gateBroken }

func (g *gate) isOpen() bool { return g.state.Load() == gateOpen }

// pass returns at once while the process runs, when it resumes while it is
// paused, and with [ErrCrashed] when it is no more.
func (g *gate) pass(seam string) error {
	for {
		switch g.state.Load() {
		case gateOpen:
			return nil
		case gateBroken:
			return ErrCrashed
		}
		if wt := g.queue(seam); wt != nil {
			<-wt.letGo
		}
	}
}

// queue adds a waiter, or returns nil when the gate is no longer shut.
func (g *gate) queue(seam string) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Load() != gateShut {
		return nil
	}
	wt := &waiter{seam: seam, arrived: g.p.w.Now(), code: ownCode(), letGo: make(chan struct{})}
	g.waiting = append(g.waiting, wt)
	return wt
}

// shut starts a pause. Pauses may overlap: the last one to end opens.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Load() == gateBroken {
		return
	}
	g.pauses++
	g.state.Store(gateShut)
}

// unshut ends one pause. It returns the waiters to let go in canonical order,
// and whether the process runs again.
func (g *gate) unshut() (held []*waiter, running bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pauses--; g.pauses > 0 || g.state.Load() != gateShut {
		return nil, false
	}
	g.state.Store(gateOpen)
	return g.takeWaiting(), true
}

func (g *gate) takeWaiting() []*waiter {
	held := g.waiting
	g.waiting = nil
	slices.SortStableFunc(held, compareWaiters)
	return held
}

// crash breaks the gate for good; everybody who waits is let go, to fail.
func (g *gate) crash() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Store(gateBroken)
	for _, wt := range g.takeWaiting() {
		close(wt.letGo)
	}
}

// open ends all pauses at the end of a run.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Load() == gateShut {
		g.state.Store(gateOpen)
	}
	for _, wt := range g.takeWaiting() {
		close(wt.letGo)
	}
}

// afterResume is how long it takes, at the most, until the last goroutine of
// a resumed process runs again.
const afterResume = 100 * time.Microsecond

// resume ends one pause.
func (p *Process) resume() {
	held, running := p.gate.unshut()
	if !running {
		return
	}
	p.w.trace.record(trace.World, p.name, trace.Resume{})
	for i := 0; i < len(held); {
		first := i
		for i < len(held) && compareWaiters(held[first], held[i]) == 0 {
			i++
		}
		together := held[first:i]
		p.w.time.queue.add(p.w.time.now()+p.afterResume(together[0].seam, first), func() {
			for _, wt := range together {
				close(wt.letGo)
			}
		})
	}
}

// afterResume draws when goroutines are let go. Those that close a connection
// go on at once: go-redis holds a mutex while it closes that of a subscription,
// and whoever were let go before and wanted it would not wait for virtual time.
func (p *Process) afterResume(seam string, n int) int64 {
	if strings.HasPrefix(seam, "close ") {
		return 0
	}
	d := p.w.chance.draw("resume").Str(p.name).Str(seam).Num(p.w.time.now()).Num(int64(n))
	return d.Between(1, int64(afterResume))
}
