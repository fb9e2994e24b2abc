package workers_test

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"locksim/internal/workers"
)

type cmd = exec.Cmd

func echo(n int, _ func()) (int, error) { return n, nil }

// The messages, byte for byte.
func TestServe(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"nothing": {"", ""},
		"two jobs": {"{\"id\":0,\"job\":5}\n{\"id\":1,\"job\":6}\n",
			"{\"id\":0,\"result\":5}\n{\"id\":1,\"result\":6}\n"},
		"no such job": {"{\"id\":3,\"job\":\"x\"}\n",
			"{\"id\":3,\"error\":\"read the job: json: cannot unmarshal string into Go value of type int\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := serve(t, tt.in, echo); err != nil || got != "{\"ready\":1,\"id\":0}\n"+tt.want {
				t.Errorf("%v: %s", err, got)
			}
		})
	}
}

// serve sends jobs to Serve as a parent does, one at a time.
func serve(t *testing.T, in string, do func(int, func()) (int, error)) (string, error) {
	t.Helper()
	jobs, send := io.Pipe()
	answers := &lineCounter{lines: make(chan struct{}, 100)}
	ended := make(chan error)
	go func() { ended <- workers.Serve(jobs, answers, do) }()
	<-answers.lines // ready
	for line := range strings.Lines(in) {
		if _, err := io.WriteString(send, line); err != nil {
			t.Fatal(err)
		}
		<-answers.lines
	}
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	return answers.String(), err
}

type lineCounter struct {
	bytes.Buffer
	lines chan struct{}
}

func (l *lineCounter) Write(p []byte) (int, error) {
	defer func() { l.lines <- struct{}{} }()
	return l.Buffer.Write(p)
}

// An answer that is too long for a line is an error of its job, and so is an error
// without a text.
func TestServeUnsayable(t *testing.T) {
	in := "{\"id\":0,\"job\":1}\n"
	jobs, send := io.Pipe()
	answers := &lineCounter{lines: make(chan struct{}, 100)}
	ended := make(chan error)
	go func() {
		ended <- workers.Serve(jobs, answers, func(int, func()) (any, error) { return func() {}, nil })
	}()
	<-answers.lines
	_, _ = io.WriteString(send, in)
	<-answers.lines
	_ = send.Close()
	if err := <-ended; err != nil || !strings.Contains(answers.String(), `"error":"json: unsupported type`) {
		t.Errorf("%v: %s", err, answers)
	}
	if got, err := serve(t, in, func(int, func()) (int, error) { return 0, errors.New("") }); err != nil ||
		!strings.Contains(got, `"error":"an error without a text"`) {
		t.Errorf("%v: %s", err, got)
	}
}

// A child whose parent has ended exits, also during a job.
func TestServeOrphan(t *testing.T) {
	jobs, send := io.Pipe()
	begun, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- workers.Serve(jobs, io.Discard, func(int, func()) (int, error) {
			close(begun)
			<-release
			return 0, nil
		})
	}()
	if _, err := io.WriteString(send, "{\"id\":0,\"job\":1}\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(release)
}

// The same with a process: it exits although its job does not end.
func TestOrphanProcess(t *testing.T) {
	c := command("serve")()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "{\"id\":0,\"job\":{\"Do\":\"hang\"}}\n"); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestServeBadInput(t *testing.T) {
	for _, in := range []string{"hello\n", "{\"id\":0", "{\"id\":\"x\"}\n"} {
		err := workers.Serve(strings.NewReader(in), io.Discard, echo)
		if !errors.Is(err, workers.ErrBadRequest) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestServeNobodyListens(t *testing.T) {
	if err := workers.Serve(strings.NewReader(""), broken{}, echo); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
}
