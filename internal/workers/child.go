package workers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child is a child process, in the parent. It is used by one goroutine at a time.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	stderr  *excerpt
	replies chan reply    // closed when no more can be read
	broken  error         // the reason for that; set before replies is closed
	over    chan struct{} // closed when replies are not read any more
	gone    chan struct{} // closed when the process has exited
	state   error         // the error of Wait; set before gone is closed
}

// start starts a child and waits until it is ready. The error is a
// [*StartError], or that of the context.
func start(ctx context.Context, command func() *exec.Cmd) (*child, error) {
	c, err := launch(command())
	if err != nil {
		return nil, &StartError{Cause: err}
	}
	if err = c.awaitReady(ctx); err == nil {
		return c, nil
	}
	how := c.end(err)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &StartError{Cause: errors.New(how), Stderr: c.stderr.String()}
}

// launch starts the process and the goroutine that reads its output.
func launch(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, stderr: new(excerpt), replies: make(chan reply), over: make(chan struct{}),
		gone: make(chan struct{})}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = tuned(cmd.Env)
	cmd.Stderr, cmd.WaitDelay = c.stderr, graceForOutput
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	go c.listen()
	return c, nil
}

// tuned is the environment of a child: one core, fewer garbage collections, since little
// memory is live at any time, and goroutines whose first stack need not grow. The last
// two together make runs faster by a sixth. Values that the user has set are kept.
func tuned(env []string) []string {
	debug, collected := "", false
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "GODEBUG="); ok && value != "" {
			debug = value + ","
		}
		collected = collected || strings.HasPrefix(v, "GOGC=")
	}
	if !collected {
		env = append(env, "GOGC=400")
	}
	return append(env, "GOMAXPROCS=1", "GODEBUG="+debug+"adaptivestackstart=1")
}

func (c *child) awaitReady(ctx context.Context) error {
	late := time.NewTimer(defaultSilence)
	defer late.Stop()
	r, err := c.next(ctx, late.C)
	if err == nil && r.Ready != protocol {
		return fmt.Errorf("%w: the child is of another version of the program", errGarbage)
	}
	return err
}

// listen reads the output of the child until it ends, and then waits for the process.
func (c *child) listen() {
	defer close(c.gone)
	c.broken = c.read(bufio.NewReader(c.out))
	close(c.replies)
	c.state = c.cmd.Wait()
}

func (c *child) read(out *bufio.Reader) error {
	for {
		var r reply
		if err := readLine(out, &r); err != nil {
			return err
		}
		select {
		case c.replies <- r:
		case <-c.over:
			return io.EOF
		}
	}
}

var (
	errSilent = errors.New("it was silent for too long")
	errEnded  = errors.New("it ended")
)

// next reads the next line of the child. The error is errSilent, errEnded, that of the
// context, or wraps errGarbage.
func (c *child) next(ctx context.Context, late <-chan time.Time) (reply, error) {
	select {
	case r, ok := <-c.replies:
		switch {
		case ok:
			return r, nil
		case errors.Is(c.broken, errGarbage):
			return reply{}, c.broken
		}
		return reply{}, errEnded
	case <-late:
		return reply{}, errSilent
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// ask sends a job to the child and waits for the answer; it calls step for each step that
// the child reports. The error is a [*JobError], after which the child can be asked
// again, or one of next.
func (c *child) ask(ctx context.Context, req request, silence time.Duration, step func()) (reply, error) {
	c.stderr.reset()
	go func() { _ = (&lineWriter{w: c.in}).write(req) }() // it can block; if it fails, the child has ended
	late := time.NewTimer(silence)
	defer late.Stop()
	for {
		r, err := c.next(ctx, late.C)
		switch {
		case err != nil:
			return r, err
		case r.ID != req.ID || r.Ready != 0:
			return r, fmt.Errorf("%w: the child was sent job %d and answered job %d", errGarbage, req.ID, r.ID)
		case r.Error != "":
			return r, &JobError{Text: r.Error}
		case !r.Step:
			return r, nil
		}
		late.Reset(silence)
		step()
	}
}

// How long a child may take to end by itself, and how long the parent waits for the end of
// its output when a process that the child has started still has that open.
const (
	graceToEnd     = 5 * time.Second
	graceForOutput = time.Second
)

// end ends a child after the error why of next or ask, and waits until it has exited. It
// returns a description of how the child ended.
func (c *child) end(why error) string {
	if !errors.Is(why, errEnded) {
		c.kill()
		return why.Error()
	}
	c.retire()
	return c.exitText()
}

// retire closes the input of a child and waits until it has exited. A child that takes too
// long is killed.
func (c *child) retire() {
	close(c.over)
	_ = c.in.Close() // it may be closed already
	late := time.NewTimer(graceToEnd)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		c.killProcess()
	}
}

// kill kills a child, and waits until it has exited.
func (c *child) kill() {
	close(c.over)
	c.killProcess()
}

// killProcess kills the process, by its id, and closes its pipes: the rest of its output
// is not read.
func (c *child) killProcess() {
	_ = c.cmd.Process.Kill() // it may have exited already
	_ = c.out.Close()
	_ = c.in.Close()
	<-c.gone
}

// exitText describes how a child has exited.
func (c *child) exitText() string {
	if c.state == nil {
		return "it ended by itself, with exit status 0"
	}
	return fmt.Sprintf("it ended by itself: %v", c.state)
}
