package console

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

// Progress writes the progress of a command to standard error. Its methods are safe
// for concurrent use, and do nothing on nil.
type Progress struct {
	w        io.Writer
	program  string
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu    sync.Mutex
	line  string // the line to write next; "" for none
	shown bool   // the terminal shows a line
}

// NewProgress starts to write progress. With quiet, it returns nil.
func NewProgress(c *Console, quiet bool) *Progress {
	if quiet {
		return nil
	}
	p := &Progress{w: c.Err, program: c.Program, terminal: IsTerminal(c.Err), stop: make(chan struct{})}
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

func (p *Progress) write() {
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

// Show sets the line.
func (p *Progress) Show(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = line
}

// Clear removes the line, so that other output starts on an empty line.
func (p *Progress) Clear() {
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

// End stops the progress. Nothing is written after it returns.
func (p *Progress) End() {
	if p == nil {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	p.Clear()
}

// Busy shows on a terminal what the command is doing, if that takes longer than the
// first delay. The returned function removes the message.
func (c *Console) Busy(what string) (done func()) {
	if !IsTerminal(c.Err) {
		return func() {}
	}
	p := NewProgress(c, false)
	p.Show(what + " …")
	return p.End
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
