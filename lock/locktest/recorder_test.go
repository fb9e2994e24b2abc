package locktest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	skipped  bool
}

func (w *recorder) fail(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, text)
}

func (*recorder) Helper()                             {}
func (w *recorder) Error(args ...any)                 { w.fail(fmt.Sprint(args...)) }
func (w *recorder) Errorf(format string, args ...any) { w.fail(fmt.Sprintf(format, args...)) }

func (w *recorder) Fatal(args ...any) {
	w.fail(fmt.Sprint(args...))
	runtime.Goexit()
}

func (w *recorder) Fatalf(format string, args ...any) {
	w.fail(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// Skip does not end the goroutine, which may be that of the test of the suite.
func (w *recorder) Skip(...any) {
	w.mu.Lock()
	w.skipped = true
	w.mu.Unlock()
}
