package workers

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoCommand is returned by [Run] when its options have no Command.
var ErrNoCommand = errors.New("workers: Options.Command is missing: it makes the command of a child")

// JobError is the Err of a job that the child answered with an error.
type JobError struct {
	Text string

	spent bool // the child is not to be asked again
}

func (e *JobError) Error() string { return e.Text }

// CrashError is the Err of a job under which two children died, one after the
// other, or spoke what is not the protocol.
type CrashError struct {
	// How is what became of the second child, such as "signal: killed".
	How string
	// Stderr is what it wrote to standard error during the job: the beginning
	// and the end of it.
	Stderr string
}

func (e *CrashError) Error() string {
	return "the worker process died under this job, and so did a second one: " + e.How + lastWords(e.Stderr)
}

// HangError is the Err of a job during which a child was silent for too long.
// The child was killed.
type HangError struct {
	// After is how long it was silent, on the wall clock.
	After time.Duration
	// Stderr is as in [CrashError].
	Stderr string
}

func (e *HangError) Error() string {
	return fmt.Sprintf("the worker process hung: it was silent for %v under this job, and was killed%s", e.After, lastWords(e.Stderr))
}

// StartError is returned by [Run] when a child cannot be started, or ends before
// it has said that it is ready: then no other could do better.
type StartError struct {
	Cause  error
	Stderr string
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start a worker process: %v%s", e.Cause, lastWords(e.Stderr))
}

func (e *StartError) Unwrap() error { return e.Cause }

func lastWords(stderr string) string {
	if stderr == "" {
		return ""
	}
	return "\nit wrote:\n" + stderr
}
