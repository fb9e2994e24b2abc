package child_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"locksim/internal/child"
)

// kept is the standard output as a library keeps it that is initialized before the program begins.
var kept = os.Stdout

func TestMain(m *testing.M) {
	as := os.Getenv("LOCKSIM_CHILD_TEST")
	if as == "" {
		goleak.VerifyTestMain(m)
		return
	}
	in, out := child.Parent()
	r, w := child.NewReader(in), child.NewWriter(out)
	for {
		var n int
		if err := r.Read(&n); err != nil {
			if as == "deaf" {
				select {}
			}
			os.Exit(3)
		}
		fmt.Println("printed")
		if runtime.GOOS != "windows" {
			_, _ = fmt.Fprintln(kept, "kept")
		}
		_ = w.Write(n * n)
	}
}

// start starts a child, whose answers come by the channel.
func start(t *testing.T, as string) (*child.Process, <-chan int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCKSIM_CHILD_TEST="+as)
	answers := make(chan int)
	p, err := child.Start(cmd, func(r *child.Reader) {
		defer close(answers)
		for {
			var n int
			if err := r.Read(&n); err != nil {
				if as == "" && !errors.Is(err, io.EOF) {
					t.Errorf("the answers end with %v", err)
				}
				return
			}
			answers <- n
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, answers
}

// What the program of a child prints, also by a file that it kept, is no answer. A child ends with its input.
func TestProcess(t *testing.T) {
	p, answers := start(t, "squares")
	for n := range 3 {
		if err := p.Lines.Write(n); err != nil {
			t.Fatal(err)
		}
		if got := <-answers; got != n*n {
			t.Errorf("the answer to %d is %d", n, got)
		}
	}
	p.Retire()
	exit, ok := errors.AsType[*exec.ExitError](p.State())
	if !ok || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", p.State())
	}
	want := "printed\nkept\n"
	if runtime.GOOS == "windows" {
		want = "printed\n"
	}
	if got := p.Said.String(); got != strings.TrimSpace(strings.Repeat(want, 3)) {
		t.Errorf("it said %q", got)
	}
	if err := p.Lines.Write(1); err == nil {
		t.Error("a child that has ended takes a line")
	}
}

// A child that does not heed the end of its input is killed.
func TestKill(t *testing.T) {
	p, answers := start(t, "deaf")
	if err := p.Lines.Write(2); err != nil {
		t.Fatal(err)
	}
	<-answers
	p.Kill()
	select {
	case <-p.Gone():
	default:
		t.Error("it is not gone")
	}
	if p.State() == nil {
		t.Error("it ended without an error")
	}
	p.Kill() // it does nothing
}

// What is no line of JSON is told apart from the end.
func TestRead(t *testing.T) {
	for text, want := range map[string]error{
		"": io.EOF, "1\n": nil, "{\n": child.ErrGarbage, "1": io.ErrUnexpectedEOF,
		strings.Repeat("1", child.MaxLine+1): child.ErrGarbage,
	} {
		var n int
		if err := child.NewReader(strings.NewReader(text)).Read(&n); !errors.Is(err, want) {
			t.Errorf("%.10q: %v, want %v", text, err, want)
		}
	}
	if err := child.NewWriter(io.Discard).Write(strings.Repeat("x", child.MaxLine)); err == nil {
		t.Error("a line that is too long is written")
	}
}
