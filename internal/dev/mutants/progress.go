package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// progress writes the progress: on a terminal it rewrites one line, elsewhere it writes a
// line every few seconds.
type progress struct {
	mu    sync.Mutex // guards done
	done  int
	all   int
	began time.Time
	stop  chan struct{}
	ended chan struct{}
}

func newProgress(f *os.File, all int) *progress {
	p := &progress{all: all, began: time.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	begin, end, often, last := "", "\n", 5*time.Second, ""
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		begin, end, often, last = "\r\x1b[K", "", 200*time.Millisecond, "\r\x1b[K"
	}
	go func() {
		defer close(p.ended)
		tick := time.NewTicker(often)
		defer tick.Stop()
		for {
			_, _ = fmt.Fprint(f, begin, p.line(), end) // no result depends on it
			select {
			case <-tick.C:
			case <-p.stop:
				_, _ = fmt.Fprint(f, last)
				return
			}
		}
	}()
	return p
}

// step counts a finished task.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

// line has the number of finished tasks and the time left.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := fmt.Sprintf("%d of %d test runs", p.done, p.all)
	if p.done > 0 {
		left := time.Since(p.began) * time.Duration(p.all-p.done) / time.Duration(p.done)
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// end removes the line from a terminal.
func (p *progress) end() {
	close(p.stop)
	<-p.ended
}
