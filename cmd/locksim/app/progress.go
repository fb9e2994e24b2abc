package app

import (
	"io"
	"os"
	"sync"
	"time"
)

// How often a person is told how far a command has come, on the wall clock: at a
// terminal one line is written anew, elsewhere there is a line for each time.
// Nobody is told in the first of these intervals, or at a terminal in the first
// second.
const (
	patience   = time.Second
	often      = 200 * time.Millisecond
	nowAndThen = 5 * time.Second
)

// progress tells people how far a command has come. Its methods are safe for
// concurrent use, and all of them but newProgress take nil for nobody.
type progress struct {
	w        io.Writer
	program  string
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu    sync.Mutex
	line  string // what is to be shown next; "" for nothing
	shown bool   // there is a line at the terminal
}

// newProgress begins to tell people. With quiet, it is nil.
func newProgress(s *shell, quiet bool) *progress {
	if quiet {
		return nil
	}
	p := &progress{w: s.err, program: s.program, terminal: isTerminal(s.err), stop: make(chan struct{})}
	first, interval := nowAndThen, nowAndThen
	if p.terminal {
		first, interval = patience, often
	}
	p.stopped.Go(func() {
		t := time.NewTimer(first)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.tell()
				t.Reset(interval)
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// tell writes the line.
func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.line == "":
	case p.terminal:
		p.shown = true
		_, _ = io.WriteString(p.w, "\r\x1b[K"+p.line) // it is only a courtesy
	default:
		_, _ = io.WriteString(p.w, p.program+": "+p.line+"\n")
	}
}

// show says what the line is from now on.
func (p *progress) show(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = line
}

// clear takes the line back: what comes next is for other lines.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = ""
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.w, "\r\x1b[K")
	}
}

// end ends it. Nothing is written after that.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	p.clear()
}

// busy tells a person at a terminal that something is still going on, if it
// takes a while. The function that it returns takes the message back.
func (s *shell) busy(what string) (done func()) {
	if !isTerminal(s.err) {
		return func() {}
	}
	p := newProgress(s, false)
	p.show(what + " …")
	return p.end
}

// isTerminal reports whether a stream is a person's screen.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
