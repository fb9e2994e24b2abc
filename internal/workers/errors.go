package workers

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoCommand is returned by [Run] when its options have no Command.
var ErrNoCommand = errors.New("workers: Options.Command is missing: it makes the command of a child")

// JobError is the Err of a job that the child answered with an error.
type JobError struct{ Text string }

func (e *JobError) Error() string { return e.Text }

// CrashError is the Err of a job during which two children exited, one after the other,
// or sent something that is not the protocol.
type CrashError struct {
	// How describes how the second child ended, such as "signal: killed".
	How string
	// Stderr is what it wrote to standard error during the job: the beginning and the
	// end.
	Stderr string
	// Steps is how many steps of the job it had reported.
	Steps int
}

func (e *CrashError) Error() string {
	return "the worker process ended during this job, and a second one did too: " + e.How + wrote(e.Stderr)
}

// HangError is the Err of a job during which a child sent nothing for too long. The child
// was killed.
type HangError struct {
	// After is how long it sent nothing, on the wall clock.
	After time.Duration
	// Stderr is as in [CrashError].
	Stderr string
}

func (e *HangError) Error() string {
	return fmt.Sprintf("the worker process hung: it sent nothing for %v during this job, and was killed%s", e.After,
		wrote(e.Stderr))
}

// StartError is returned by [Run] when a child cannot be started, or ends before it is
// ready: a second try would fail in the same way.
type StartError struct {
	Cause  error
	Stderr string
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start a worker process: %v%s", e.Cause, wrote(e.Stderr))
}

func (e *StartError) Unwrap() error { return e.Cause }

// wrote is the end of an error message with the standard error of a child.
func wrote(stderr string) string {
	if stderr == "" {
		return ""
	}
	return "\nit wrote:\n" + stderr
}
