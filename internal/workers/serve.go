package workers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrBadRequest is returned by [Serve] when its input is not what [Run] writes.
var ErrBadRequest = errors.New("standard input is not from a parent of this version")

// ErrSpent is wrapped by the error of a job after which its process can do no
// others: goroutines of it are still at work, say. [Serve] sends it, and returns
// it; the parent starts another child for the next job.
var ErrSpent = errors.New("the worker process can do no more jobs")

// Serve answers jobs until the input ends: it is the whole of a child. do
// handles one job at a time; it calls step now and then, from any goroutine, to
// show that it lives. An error that do returns is the answer to its job; a panic
// ends the process, and the parent reports it.
//
// The input may end in the middle of a job. Serve then returns at once, with
// nil, and leaves do behind: the caller should end the process. The error is
// that of reading or writing, or wraps [ErrBadRequest] or [ErrSpent].
//
// Whatever else is written to out spoils it. A program that runs other people's
// code had better give os.Stdout another value first.
func Serve[J, R any](in io.Reader, out io.Writer, do func(job J, step func()) (R, error)) error {
	w := &lineWriter{w: out}
	if err := w.write(reply{Ready: protocol}); err != nil {
		return fmt.Errorf("tell the parent that the worker is ready: %w", err)
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
				return err // nobody waits for the answer any more
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
	r := bufio.NewReader(in)
	for {
		var req request
		err := readLine(r, &req)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBadRequest, err)
		}
		requests <- req
	}
}

// answer does a job. Its error is that of the connection, or wraps ErrSpent.
func answer[J, R any](w *lineWriter, r request, do func(J, func()) (R, error)) error {
	result, err := perform(w, r, do)
	if err == nil {
		var b []byte
		if b, err = json.Marshal(result); err == nil && len(b) < MaxLine/2 {
			return w.write(reply{ID: r.ID, Result: b})
		}
		if err == nil {
			err = fmt.Errorf("the result takes %d bytes as JSON: at most %d", len(b), MaxLine/2)
		}
	}
	spent := errors.Is(err, ErrSpent)
	broken := w.write(reply{ID: r.ID, Error: orUnnamed(err.Error()), Spent: spent})
	if broken == nil && spent {
		return err
	}
	return broken
}

func perform[J, R any](w *lineWriter, r request, do func(J, func()) (R, error)) (result R, err error) {
	var job J
	if err := json.Unmarshal(r.Job, &job); err != nil {
		return result, fmt.Errorf("read the job: %w", err)
	}
	return do(job, func() { _ = w.write(reply{ID: r.ID, Step: true}) }) // if it fails, so will the answer
}

// orUnnamed keeps an error with an empty text from passing for none.
func orUnnamed(text string) string {
	if text == "" {
		return "an error without a text"
	}
	return text
}
