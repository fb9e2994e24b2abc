package workers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child is a child process as its parent sees it. It is used by one goroutine
// at a time.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	stderr  *excerpt
	replies chan reply    // closed when no more can be read
	broken  error         // why; set before replies is closed
	over    chan struct{} // closed when nobody wants replies any more
	gone    chan struct{} // closed when the process is no more
	state   error         // what became of it; set before gone is closed
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

// launch starts the process and the goroutine that listens to it.
func launch(cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd, stderr: new(excerpt), replies: make(chan reply), over: make(chan struct{}), gone: make(chan struct{})}
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

// tuned is the environment of a child: one core, less garbage collected, of which
// there is little at any time, and goroutines that begin with stacks that need
// not grow. Together the last two make runs faster by a sixth. What the user has
// set stays.
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
		return fmt.Errorf("%w: it is not of this version of the program", errGarbage)
	}
	return err
}

// listen reads what the child says until its output ends, and then waits for
// the process.
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

// next is the next line of the child. The error is errSilent, errEnded, that of
// the context, or wraps errGarbage.
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

// ask has the child do a job, and calls step for each sign of life. The error is
// a [*JobError], after which the child can be asked again, or one of next.
func (c *child) ask(ctx context.Context, req request, silence time.Duration, step func()) (json.RawMessage, error) {
	c.stderr.reset()
	go func() { _ = (&lineWriter{w: c.in}).write(req) }() // it can block; if it fails, the child has ended
	late := time.NewTimer(silence)
	defer late.Stop()
	for {
		r, err := c.next(ctx, late.C)
		switch {
		case err != nil:
			return nil, err
		case r.ID != req.ID || r.Ready != 0:
			return nil, fmt.Errorf("%w: it was asked for job %d and speaks of job %d", errGarbage, req.ID, r.ID)
		case r.Error != "":
			return nil, &JobError{Text: r.Error, spent: r.Spent}
		case !r.Step:
			return r.Result, nil
		}
		late.Reset(silence)
		step()
	}
}

// How long a child has to end by itself, and how long its output is waited for
// when a process that it started still holds it.
const (
	graceToEnd     = 5 * time.Second
	graceForOutput = time.Second
)

// end ends a child with which nothing more can be done, for the reason that
// next or ask gave, and waits until it is gone. It returns what became of it.
func (c *child) end(why error) string {
	if !errors.Is(why, errEnded) {
		c.kill()
		return why.Error()
	}
	c.retire()
	return c.fate()
}

// retire lets a child end, and waits until it is gone.
func (c *child) retire() {
	close(c.over)
	_ = c.in.Close() // it may be closed already
	late := time.NewTimer(graceToEnd)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		c.strike()
	}
}

// kill ends a child at once, and waits until it is gone.
func (c *child) kill() {
	close(c.over)
	c.strike()
}

// strike kills this process, by its id. What it still has to say is not read.
func (c *child) strike() {
	_ = c.cmd.Process.Kill() // it may be gone already
	_ = c.out.Close()
	_ = c.in.Close()
	<-c.gone
}

// fate is what became of a child that is gone.
func (c *child) fate() string {
	if c.state == nil {
		return "it ended by itself, with exit status 0"
	}
	return fmt.Sprintf("it ended by itself: %v", c.state)
}
