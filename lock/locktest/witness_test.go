package locktest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// witness is a testing.TB that notes what a test says, and fails nobody.
type witness struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	skipped  bool
}

func (w *witness) fail(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, text)
}

func (*witness) Helper()                             {}
func (w *witness) Error(args ...any)                 { w.fail(fmt.Sprint(args...)) }
func (w *witness) Errorf(format string, args ...any) { w.fail(fmt.Sprintf(format, args...)) }

func (w *witness) Fatal(args ...any) {
	w.fail(fmt.Sprint(args...))
	runtime.Goexit()
}

func (w *witness) Fatalf(format string, args ...any) {
	w.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (w *witness) Skip(...any) {
	w.mu.Lock()
	w.skipped = true
	w.mu.Unlock()
	runtime.Goexit()
}
