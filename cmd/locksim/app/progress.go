package app

import (
	"io"
	"os"
	"sync"
	"time"
)

// The wall-clock intervals at which a command writes its progress. On a terminal it
// rewrites one line at each interval, after a first delay; elsewhere it appends a line.
// A command that ends within the first delay or interval writes no progress.
const (
	firstLine        = time.Second
	terminalInterval = 200 * time.Millisecond
	plainInterval    = 5 * time.Second
)

// progress writes the progress of a command to standard error. Its methods are safe
// for concurrent use, and do nothing on nil.
type progress struct {
	w        io.Writer
	program  string
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu    sync.Mutex
	line  string // the line to write next; "" for none
	shown bool   // the terminal shows a line
}

// newProgress starts to write progress. With quiet, it returns nil.
func newProgress(c *console, quiet bool) *progress {
	if quiet {
		return nil
	}
	p := &progress{w: c.err, program: c.program, terminal: isTerminal(c.err), stop: make(chan struct{})}
	first, interval := plainInterval, plainInterval
	if p.terminal {
		first, interval = firstLine, terminalInterval
	}
	p.stopped.Go(func() {
		t := time.NewTimer(first)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.write()
				t.Reset(interval)
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// write writes the line.
func (p *progress) write() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.line == "":
	case p.terminal:
		p.shown = true
		_, _ = io.WriteString(p.w, "\r\x1b[K"+p.line) // no result depends on it
	default:
		_, _ = io.WriteString(p.w, p.program+": "+p.line+"\n")
	}
}

// show sets the line.
func (p *progress) show(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = line
}

// clear removes the line, so that other output starts on an empty line.
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

// end stops the progress. Nothing is written after it returns.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	p.clear()
}

// busy shows on a terminal what the command is doing, if that takes longer than the
// first delay. The returned function removes the message.
func (c *console) busy(what string) (done func()) {
	if !isTerminal(c.err) {
		return func() {}
	}
	p := newProgress(c, false)
	p.show(what + " …")
	return p.end
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
