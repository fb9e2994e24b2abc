package child

import (
	"fmt"
	"strings"
	"sync"
)

// How much of a child's standard error is kept. The message of a panic is at the
// beginning; the cause of a fatal error may be at the end.
const (
	headBytes = 4 << 10
	tailBytes = 4 << 10
)

// Excerpt keeps the beginning and the end of what is written to it. It is safe for concurrent use.
type Excerpt struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int
}

// Write implements [io.Writer]. It never fails.
func (e *Excerpt) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	room := min(headBytes-len(e.head), len(p))
	e.head = append(e.head, p[:room]...)
	e.tail = append(e.tail, p[room:]...)
	if over := len(e.tail) - tailBytes; over > 0 {
		e.dropped += over
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
	return len(p), nil
}

// Reset drops everything.
func (e *Excerpt) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head, e.tail, e.dropped = e.head[:0], e.tail[:0], 0
}

// String is what was kept, without white space at the end.
func (e *Excerpt) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	b.Write(e.head)
	if e.dropped > 0 {
		fmt.Fprintf(&b, "\n… %d bytes left out …\n", e.dropped)
	}
	b.Write(e.tail)
	return strings.TrimRight(strings.ToValidUTF8(b.String(), "\uFFFD"), " \t\r\n")
}
