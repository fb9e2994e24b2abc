package sim

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksim/sim/trace"
)

// Result is what a run leaves behind.
type Result struct {
	Trace *trace.Trace
	// Events is the number of events that the world delivered.
	Events int
	// Virtual is the virtual time that passed while the body ran.
	Virtual time.Duration
}

// Run opens a bubble of virtual time, builds a world in it, runs body on the
// world's goroutine, and closes everything. Runs are serialised: the second
// of two concurrent calls waits for the first.
//
// It returns the body's error; a [*LimitError]; a [*FrozenError] when the
// bubble stood still; a [*LeakError] when goroutines of the code under test
// outlived the run; and what a client's goroutine panicked with. The result
// is not nil where the body ran at all, whatever its error.
func Run(cfg Config, body func(*World) error) (*Result, error) {
	if body == nil {
		return nil, errNoBody
	}
	if err := cfg.validateDefaults(); err != nil {
		return nil, err
	}
	release := seedGlobals(cfg.Seed)
	defer release()
	return runGuarded(cfg.withDefaults(), body)
}

func (c Config) validateDefaults() error { return c.withDefaults().validate() }

// runGuarded runs the bubble on a goroutine of its own, watched from outside.
func runGuarded(cfg Config, body func(*World) error) (*Result, error) {
	b := &bubble{cfg: cfg, body: body, done: make(chan struct{})}
	go b.run()
	if err := watch(&b.pulse, cfg.Limits.Frozen, b.done); err != nil {
		return nil, err // the bubble is stuck; nothing of it can be read
	}
	return b.result, b.err
}

// bubble is one run's bubble of virtual time.
type bubble struct {
	cfg    Config
	body   func(*World) error
	pulse  pulse
	done   chan struct{}
	result *Result
	err    error
}

func (b *bubble) run() {
	defer close(b.done)
	defer func() {
		if r := recover(); r != nil {
			b.err = errors.Join(b.err, bubbleError(r))
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) { b.inside() })
}

// inside is the bubble's root function. The testing.T that it is given must
// not be touched: outside go test it is not a whole one.
func (b *bubble) inside() {
	w := newWorld(b.cfg)
	w.pulse.n = b.pulse.counter()
	b.err = runBody(w, b.body)
	b.result = &Result{Trace: &w.trace, Events: w.events, Virtual: w.Now()}
	kept := w.trace
	b.result.Trace = &kept // what closing does is not part of the trace
	if err := w.close(); err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("close the world: %w", err))
	}
}

// runBody turns a panic of the body into an error, so that the world is
// closed in any case.
func runBody(w *World, body func(*World) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Actor: "world", Value: r, Stack: string(debug.Stack())}
		}
	}()
	return body(w)
}

// afterDials is how long go-redis goes on probing after failed dials.
const afterDials = 3 * time.Second

// close ends everything in the bubble. A goroutine that is left afterwards
// belongs to the code under test.
func (w *World) close() error {
	w.cfg.StopAt, w.cfg.Untraced = 0, true
	w.cfg.Limits.Virtual = time.Duration(w.now()) + time.Hour
	w.cfg.Limits.Events = w.events + 1_000_000
	for _, p := range w.procs {
		p.end()
	}
	err := w.RunFor(afterDials)
	for _, l := range w.links {
		l.kill()
	}
	for _, n := range w.nodes {
		n.close()
	}
	w.settle()
	return err
}

// PanicError is returned when the body or a goroutine started by
// [Process.Go] panicked.
type PanicError struct {
	// Actor is the process, or "world" for the body.
	Actor string
	// Value is what it panicked with.
	Value any
	// Stack is the goroutine's stack.
	Stack string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s panicked: %v\n%s", e.Actor, e.Value, e.Stack)
}

// LeakError is returned when goroutines of a run were still there after
// everything had been closed: a lock that never stops a timer loop, a client
// that was not closed.
type LeakError struct {
	// Stacks are the stacks of the goroutines that were left.
	Stacks string
}

func (e *LeakError) Error() string {
	return "goroutines were left when the run had ended: stop every loop and close every client when the process's context ends\n" + e.Stacks
}

// bubbleError explains a panic that came out of synctest itself.
func bubbleError(r any) error {
	text := fmt.Sprint(r)
	if strings.Contains(text, "deadlock") {
		return &LeakError{Stacks: bubbleStacks()}
	}
	return &PanicError{Actor: "world", Value: r, Stack: string(debug.Stack())}
}

// bubbleStacks are the stacks of all goroutines that live in a bubble.
func bubbleStacks() string {
	var b strings.Builder
	for _, g := range goroutines() {
		if g.bubble != "" {
			b.WriteString(g.text)
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// goroutine is one entry of a stack dump.
type goroutine struct {
	id     string
	state  string // what it waits for, without the bubble
	bubble string // "synctest bubble 7", or nothing
	text   string
}

func goroutines() []goroutine {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var all []goroutine
	for part := range strings.SplitSeq(strings.TrimSpace(string(buf)), "\n\n") {
		all = append(all, parseGoroutine(part))
	}
	return all
}

// parseGoroutine reads a header such as
// "goroutine 12 [sync.Mutex.Lock, 3 minutes, synctest bubble 2]:".
func parseGoroutine(text string) goroutine {
	g := goroutine{text: text}
	head, _, _ := strings.Cut(text, "\n")
	id, rest, ok := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
	if !ok {
		return g
	}
	g.id = id
	rest = strings.Trim(rest, "[]:")
	for i, field := range strings.Split(rest, ", ") {
		if i == 0 {
			g.state = field
		}
		if strings.HasPrefix(field, "synctest bubble") {
			g.bubble = field
		}
	}
	return g
}
