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

// gate is passed at every seam of a process. It is open, paused, or crashed,
// which is final.
type gate struct {
	p     *Process
	state atomic.Int32 // read without the mutex on the fast path

	mu      sync.Mutex
	pauses  effects // in force
	waiting []*waiter

	crashed effect // set before the state says so
}

const (
	gateOpen int32 = iota
	gatePaused
	gateCrashed
	gateAbandoned
)

// waiter is a goroutine held at a seam. Waiters are distinguished by the
// instant, the seam and the code; those that agree in all three are released
// together, since only a race could tell them apart.
type waiter struct {
	seam    string
	arrived time.Duration
	code    string // the functions and lines of its stack
	release chan struct{}
}

func compareWaiters(a, b *waiter) int {
	return cmp.Or(
		cmp.Compare(a.arrived, b.arrived),
		strings.Compare(a.seam, b.seam),
		strings.Compare(a.code, b.code),
	)
}

// callerStack is the stack of the calling goroutine, as text.
func callerStack() string {
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

func (g *gate) isCrashed() bool { return g.state.Load() == gateCrashed }

func (g *gate) isOpen() bool { return g.state.Load() == gateOpen }

// pass returns at once while the process runs, waits while it is paused, and
// returns [ErrCrashed] when it has crashed.
func (g *gate) pass(seam string) error {
	for {
		switch g.state.Load() {
		case gateOpen:
			return nil
		case gateCrashed:
			g.crashed.felt()
			return ErrCrashed
		case gateAbandoned:
			<-make(chan struct{})
		}
		if wt := g.queue(seam); wt != nil {
			<-wt.release
		}
	}
}

// queue adds a waiter, or returns nil if the process is no longer paused.
func (g *gate) queue(seam string) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Load() != gatePaused {
		return nil
	}
	g.pauses.felt()
	wt := &waiter{seam: seam, arrived: g.p.w.Now(), code: callerStack(), release: make(chan struct{})}
	g.waiting = append(g.waiting, wt)
	return wt
}

// pause starts a pause. Pauses may overlap: the gate opens when the last one
// ends.
func (g *gate) pause(felt func()) (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	end = g.pauses.begin(felt)
	if g.state.Load() != gateCrashed {
		g.state.Store(gatePaused)
	}
	return end
}

// resume ends one pause. It returns the waiters to release, in canonical order,
// and whether the process runs again.
func (g *gate) resume(end func()) (held []*waiter, running bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if end(); len(g.pauses) > 0 || g.state.Load() != gatePaused {
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

// crash marks the process as crashed and releases all waiters, which then fail.
func (g *gate) crash(felt func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.crashed.felt = felt
	g.state.Store(gateCrashed)
	for _, wt := range g.takeWaiting() {
		close(wt.release)
	}
}

// abandon lets nothing pass any more, and releases nothing.
func (g *gate) abandon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.Store(gateAbandoned)
	g.waiting = nil
}

// end ends all pauses at the end of a run.
func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state.Load() == gatePaused {
		g.state.Store(gateOpen)
	}
	for _, wt := range g.takeWaiting() {
		close(wt.release)
	}
}

// afterResume bounds the time until the last goroutine of a resumed process
// runs again.
const afterResume = 100 * time.Microsecond

// resume ends one pause. The event says how it ended.
func (p *Process) resume(end func(), ended trace.What) {
	held, running := p.gate.resume(end)
	if !running {
		return
	}
	p.w.trace.record(trace.World, p.name, ended)
	for i := 0; i < len(held); {
		first := i
		for i < len(held) && compareWaiters(held[first], held[i]) == 0 {
			i++
		}
		together := held[first:i]
		p.w.time.queue.add(p.w.time.now()+p.afterResume(together[0].seam, first), func() {
			for _, wt := range together {
				close(wt.release)
			}
		})
	}
}

// afterResume draws when goroutines are released. Those that close a connection
// go on at once: go-redis holds a mutex while it closes the connection of a
// subscription, and a goroutine that was released before and waits for that
// mutex would keep virtual time from passing.
func (p *Process) afterResume(seam string, n int) int64 {
	if strings.HasPrefix(seam, "close ") {
		return 0
	}
	d := p.w.chance.draw("resume").Str(p.name).Str(seam).Num(p.w.time.now()).Num(int64(n))
	return d.Between(1, int64(afterResume))
}
