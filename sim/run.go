package sim

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// Result is the result of a run.
type Result struct {
	Trace *trace.Trace
	// Events is the number of events that the world delivered.
	Events int
	// Virtual is the virtual time that passed while the body ran.
	Virtual time.Duration
	// Rare are the rare paths that the run has reached.
	Rare rare.Set
}

// Run opens a bubble of virtual time, builds a world in it, runs body on the
// world's goroutine, and closes everything. Runs are serialised: the second
// of two concurrent calls waits for the first.
//
// It returns the body's error; a [*LimitError]; a [*FrozenError] when the
// bubble was frozen; a [*LeakError] when goroutines of the code under test
// outlived the run; and a [*PanicError] when a client's goroutine panicked. If
// the body ended, also by an error or a panic, the result is not nil.
func Run(cfg Config, body func(*World) error) (*Result, error) {
	if body == nil {
		return nil, errNoBody
	}
	if err := cfg.validateDefaults(); err != nil {
		return nil, err
	}
	if err := checkOverlay(); err != nil {
		return nil, err
	}
	labelsFit()
	fillOverlay()
	watchSignals()
	release := seedGlobals(cfg.Seed)
	defer release()
	if Overlaid() {
		// Code that knows nothing of the world may race with itself: one goroutine at a time.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	b := &bubble{cfg: cfg.withDefaults(), body: body, open: openBubble}
	return b.runWatched()
}

// watchSignals starts what package os/signal has outside of every bubble: a goroutine, and channels of the runtime. The
// first call of signal.Notify makes both for the whole program. In a bubble, such as that of a suite whose set-up asks
// for signals, they would belong to it, and the next signal of the program would be a fatal error.
var watchSignals = sync.OnceFunc(func() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, ignored)
	signal.Stop(c)
})

func openBubble(f func()) {
	synctest.Test(new(testing.T), func(*testing.T) { f() })
}

func (c Config) validateDefaults() error { return c.withDefaults().validate() }

// ErrNoReturn is returned when the body of a run ended its goroutine: by
// runtime.Goexit, or by FailNow or Fatal of a testing.T, which are only for the
// test's own goroutine.
var ErrNoReturn = errors.New("the body of the run did not return: let it return an error where it called Fatal or " +
	"FailNow")

// ErrStuckBody is returned when the body of a run waits for something that
// never happens.
var ErrStuckBody = errors.New("the body of the run waits forever: the world runs only in RunUntil and RunFor")

// ErrToolchain is returned when this Go toolchain does not run a bubble of
// testing/synctest as the world needs it.
var ErrToolchain = errors.New("testing/synctest does not work outside go test with this toolchain: locksim is tested " +
	"with Go 1.26 and 1.27")

// bubble is one run's bubble of virtual time.
type bubble struct {
	cfg     Config
	body    func(*World) error
	open    func(f func()) // runs f in a bubble
	pulse   pulse
	name    string      // "synctest bubble 7", for stack dumps
	started atomic.Bool // f has begun
	ended   bool        // f has closed the world
	result  *Result
	err     error

	exhausted bool // a connection pool may have been exhausted
	abandoned bool // goroutines of the code under test remain on purpose
	died      map[life]bool

	done  chan struct{} // closed when there is a result
	never chan struct{} // never closed, and made outside of the bubble: who waits for it lets no virtual time pass
}

// runWatched runs the bubble on its own goroutine, and watches it from outside.
func (b *bubble) runWatched() (*Result, error) {
	b.done, b.never = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(b.done)
		b.run()
	}()
	patience := b.cfg.Limits.Frozen
	// The name of the bubble is known once it has begun.
	busy := func() bool { return b.started.Load() && slices.ContainsFunc(goroutines(b.name), canRun) }
	certain := func() bool {
		if !b.started.Load() {
			return false
		}
		all := goroutines(b.name)
		return !slices.ContainsFunc(all, canRun) && ownDeadlock(all) != ""
	}
	switch alive := awaitDone(&b.pulse, patience, b.done, busy, certain); {
	case alive:
		if b.exhausted {
			forgetTimers()
		}
		return b.result, b.err
	case !b.started.Load():
		return nil, fmt.Errorf("%w: the bubble did not begin", ErrToolchain)
	}
	// those of the bubble that remains, of which a later run must use none
	forgetTimers()
	return nil, frozen(patience, goroutines(b.name)) // nothing else of a stuck bubble can be read
}

func (b *bubble) run() {
	defer func() {
		if r := recover(); r != nil {
			b.err = errors.Join(b.err, b.explain(r))
		}
	}()
	b.open(b.root)
	if !b.started.Load() {
		b.err = fmt.Errorf("%w: the bubble did not begin", ErrToolchain)
	}
}

// root is the bubble's root function. It must not use the testing.T that it is
// given, which is incomplete outside go test. For the same reason no panic and
// no Goexit may reach it, so the world has a goroutine of its own.
func (b *bubble) root() {
	b.name = thisBubble()
	b.started.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.runWorld()
	}()
	<-done
	b.ended = true
}

// runWorld builds a world, runs the body, and closes the world.
func (b *bubble) runWorld() {
	defer unseedOthers()
	var w *World
	b.err = guard(func() (err error) {
		w, err = newWorld(b.cfg, &b.pulse)
		return err
	})
	if b.err != nil {
		return
	}
	b.err = ErrNoReturn
	defer func() {
		if err := guard(w.close); err != nil {
			b.err = errors.Join(b.err, fmt.Errorf("close the world: %w", err))
		}
		b.exhausted, b.abandoned, b.died = w.procs.exhausted(), w.procs.abandoned, w.procs.died()
		w.procs.forgetLabels()
	}()
	b.err = guard(func() error { return b.body(w) })
	w.trace.end() // the close is not part of it
	b.result = &Result{Trace: w.Trace(), Events: w.time.events, Virtual: w.Now(), Rare: w.Rare()}
	if w.halted { // see [World.Halt]: the bubble remains as it is
		b.exhausted = true
		w.procs.forgetLabels()
		unseedOthers()
		close(b.done)
		<-b.never
	}
}

// guard turns a panic of f into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Actor: "world", Value: r, Stack: string(debug.Stack())}
		}
	}()
	return f()
}

// afterDials is how long go-redis probes after failed dials.
const afterDials = 3 * time.Second

// lingers is how long code goes on after everything is closed: a release that tries again on timers of its own ends by
// itself, as it does in a real process whose servers are gone.
const lingers = 10 * time.Minute

// afterSearch is how long a client of go-redis that looks for a Sentinel takes to give up when all it asks fails at
// once. It keeps a mutex meanwhile, for which its Close waits.
const afterSearch = 10 * time.Second

// PanicError is returned when the body or a goroutine of [Process.Go] panicked.
type PanicError struct {
	// Actor is the process, or "world" for the body.
	Actor string
	// Value is the value of the panic.
	Value any
	// Stack is the goroutine's stack.
	Stack string
}

// text is the value in one line.
func (e *PanicError) text() string {
	text, _, _ := strings.Cut(fmt.Sprint(e.Value), "\n")
	return text
}

// harness are the prefixes of functions that are no code under test.
var harness = []string{"locksim/sim.", "locksim/scenarios/play.", "locksim/internal/live."}

// where is the innermost function of the code under test that was running, with file and line: "in shop.(*mutex).Unlock
// (mutex.go:31)". It is "" if the harness itself has panicked.
func (e *PanicError) where() string {
	lines := strings.Split(e.Stack, "\n")
	for i := 0; i+1 < len(lines); i++ { // up to the frame that panicked
		if name, _, _ := cutLast(lines[i], "("); name == "panic" || name == "runtime.Goexit" {
			return innermost(lines[i+2:])
		}
	}
	return ""
}

// innermost is the first function of a stack that belongs to the code under test, as [PanicError.where] has it.
func innermost(stack []string) string {
	std := stdFolder()
	for i := 0; i+1 < len(stack) && !strings.HasPrefix(stack[i], "created by "); i++ {
		name, _, called := cutLast(stack[i], "(")
		file, _, _ := strings.Cut(strings.TrimSpace(stack[i+1]), " ")
		switch {
		case !called || strings.HasPrefix(stack[i], "\t"):
		case name == "panic" || strings.HasPrefix(file, std):
		case slices.ContainsFunc(harness, func(of string) bool { return strings.HasPrefix(name, of) }):
			return ""
		default:
			return "in " + name + " (" + filepath.Base(file) + ")"
		}
	}
	return ""
}

// stdFolder is the folder of the standard library, as the frames of stacks have it. A build with -trimpath cuts it off:
// then it is that of package runtime.
var stdFolder = sync.OnceValue(func() string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(runtime.GC).Pointer()).FileLine(0)
	folder, _, _ := strings.Cut(file, "runtime/")
	return cmp.Or(folder, "runtime/")
})

// cutLast cuts a text before the last occurrence of sep.
func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

func (e *PanicError) Error() string {
	if err, ok := e.Value.(error); ok && errors.Is(err, errGoexit) { // it is not a panic
		return fmt.Sprintf("%s: %v\n%s", e.Actor, e.Value, e.Stack)
	}
	return fmt.Sprintf("%s panicked: %v\n%s", e.Actor, e.Value, e.Stack)
}

// LeakError is returned when goroutines of a run remained after everything had
// been closed: a lock that never stops a timer loop, a client that was not
// closed.
type LeakError struct {
	// Where is the innermost function of the code under test in which the first of them is; "" if it is in none.
	Where string
	// Stacks are the stacks of the remaining goroutines.
	Stacks string
}

func (e *LeakError) Error() string {
	return "goroutines remained after the end of the run: stop every loop and close every client when the process's " +
		"context ends\n" + e.Stacks
}

// Brief is the error in a line, without the stacks.
func (e *LeakError) Brief() string {
	return strings.TrimSpace("goroutines remained after the end of the run " + e.Where)
}

// life is one incarnation of a process.
type life struct {
	name        string
	incarnation int
}

// leak is the error about the goroutines that remain; nil if all of them are those of processes that have crashed in
// the world: a real process ends with its goroutines, whatever they wait for.
func (b *bubble) leak() error {
	all := goroutines(b.name)
	if len(all) > 0 && !slices.ContainsFunc(all, func(g goroutine) bool { return !b.died[life{g.process, g.life}] }) {
		b.exhausted = true // what they had may be in a pool of the program
		return nil
	}
	return newLeak(all)
}

// newLeak is the error about goroutines that remain.
func newLeak(all []goroutine) *LeakError {
	var where []string
	for _, g := range all {
		if at := innermost(strings.Split(g.text, "\n")[1:]); at != "" {
			where = append(where, at)
		}
	}
	slices.Sort(where)
	return &LeakError{Where: strings.Join(where[:min(len(where), 1)], ""), Stacks: stacks(all)}
}

// explain turns a panic of synctest itself into an error.
func (b *bubble) explain(r any) error {
	deadlock := strings.Contains(fmt.Sprint(r), "deadlock")
	switch {
	case !b.started.Load():
		return fmt.Errorf("%w: %v", ErrToolchain, r)
	case deadlock && !b.ended:
		return fmt.Errorf("%w\n%s", ErrStuckBody, stacks(goroutines(b.name)))
	case deadlock && b.abandoned:
		return nil
	case deadlock:
		return b.leak()
	}
	return &PanicError{Actor: "world", Value: r, Stack: string(debug.Stack())}
}
