package scenarios_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"locksim/scenarios"
)

// witness is a testing.TB that records what a check logs and reports.
type witness struct {
	testing.TB
	name         string
	failed       bool
	logs, errors []string
}

// checked runs Check in a test of that name, and returns what it reported.
func checked(t *testing.T, name string, l scenarios.Lock, opts scenarios.Options) *witness {
	t.Helper()
	j := &witness{TB: t, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenarios.Check(j, l, opts)
	}()
	<-done
	return j
}

func (j *witness) Name() string { return j.name }
func (j *witness) Helper()      {}
func (j *witness) Log(args ...any) {
	j.logs = append(j.logs, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}
func (j *witness) Logf(format string, args ...any) { j.Log(fmt.Sprintf(format, args...)) }
func (j *witness) Error(args ...any) {
	j.failed = true
	j.errors = append(j.errors, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}
func (j *witness) Errorf(format string, args ...any) { j.Error(fmt.Sprintf(format, args...)) }
func (j *witness) Fatal(args ...any)                 { j.Error(args...); j.FailNow() }
func (j *witness) Fatalf(format string, args ...any) { j.Errorf(format, args...); j.FailNow() }
func (j *witness) Fail()                             { j.failed = true }
func (j *witness) Failed() bool                      { return j.failed }
func (j *witness) FailNow() {
	j.failed = true
	runtime.Goexit()
}

// said is all errors and all logs, each in order.
func (j *witness) said() string {
	return "errors:\n" + strings.Join(j.errors, "\n") + "\nlogs:\n" + strings.Join(j.logs, "\n")
}
