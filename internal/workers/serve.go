package workers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksim/internal/child"
)

// ErrBadRequest is returned by [Serve] when its input is not what [Run] writes.
var ErrBadRequest = errors.New("standard input is not from a parent of this version")

// ErrSpent is wrapped by the error of a job after which its process must not execute
// others, for example because goroutines of the job are still running. [Serve] sends the
// error and returns it; the parent starts another child for the next job.
var ErrSpent = errors.New("the worker process can execute no more jobs")

// ErrLast is wrapped by the error of a job that has a result, and after which its process must not execute others.
// [Serve] sends the result and returns the error, as for [ErrSpent].
var ErrLast = errors.New("this was the last job of the worker process")

// Serve executes jobs until the input ends: it is the main function of a child. do
// executes one job at a time; it calls step repeatedly, from any goroutine, to show that
// it makes progress. An error of do is the answer to its job; a panic ends the process,
// and the parent reports it.
//
// The input may end during a job. Serve then returns at once, with nil, while do is still
// running: the caller should end the process. The error is that of reading or writing, or
// wraps [ErrBadRequest], [ErrSpent] or [ErrLast].
//
// Any other output to out breaks the protocol. A program that runs code of its users
// should set os.Stdout to another file first.
func Serve[J, R any](in io.Reader, out io.Writer, do func(job J, step func()) (R, error)) error {
	defer settleStacks()()
	w := child.NewWriter(out)
	if err := w.Write(reply{Ready: protocol}); err != nil {
		return fmt.Errorf("report to the parent that the worker is ready: %w", err)
	}
	requests, ended := make(chan request), make(chan error, 1)
	go func() { ended <- receive(in, requests) }()
	for {
		select {
		case err := <-ended:
			return err
		case r := <-requests:
			done := make(chan error, 1)
			go func() { done <- answer(w, r, do) }()
			select {
			case err := <-ended:
				return err // the parent does not wait for the answer any more
			case err := <-done:
				if err != nil {
					return fmt.Errorf("answer job %d: %w", r.ID, err)
				}
			}
		}
	}
}

// receive reads requests until the input ends.
func receive(in io.Reader, requests chan<- request) error {
	r := child.NewReader(in)
	for {
		var req request
		err := r.Read(&req)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBadRequest, err)
		}
		requests <- req
	}
}

// answer executes a job and sends its answer. The error is that of sending, or wraps
// ErrSpent or ErrLast.
func answer[J, R any](w *child.Writer, r request, do func(J, func()) (R, error)) error {
	result, err := perform(w, r, do)
	if last := errors.Is(err, ErrLast); err == nil || last {
		end := err
		var b []byte
		if b, err = json.Marshal(result); err == nil && len(b) < child.MaxLine/2 {
			return cmp.Or(w.Write(reply{ID: r.ID, Result: b, Spent: last}), end)
		}
		if err == nil {
			err = fmt.Errorf("the result takes %d bytes as JSON: at most %d", len(b), child.MaxLine/2)
		}
	}
	spent := errors.Is(err, ErrSpent)
	broken := w.Write(reply{ID: r.ID, Error: orUnnamed(err.Error()), Spent: spent})
	if broken == nil && spent {
		return err
	}
	return broken
}

func perform[J, R any](w *child.Writer, r request, do func(J, func()) (R, error)) (result R, err error) {
	var job J
	if err := json.Unmarshal(r.Job, &job); err != nil {
		return result, fmt.Errorf("read the job: %w", err)
	}
	return do(job, func() { _ = w.Write(reply{ID: r.ID, Step: true}) }) // if it fails, the answer fails too
}

// orUnnamed replaces an empty error text, which would be read as no error.
func orUnnamed(text string) string {
	if text == "" {
		return "an error without a text"
	}
	return text
}
