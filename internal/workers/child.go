package workers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"locksim/internal/child"
)

// worked is a child process that executes jobs, in the parent. It is used by one goroutine at a time.
type worked struct {
	*child.Process
	replies chan reply    // closed when no more can be read
	broken  error         // the reason for that; set before replies is closed
	over    chan struct{} // closed when replies are not read any more
}

// start starts a child and waits until it is ready. The error is a
// [*StartError], or that of the context.
func start(ctx context.Context, command func() *exec.Cmd) (*worked, error) {
	cmd := command()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = tuned(cmd.Env)
	c := &worked{replies: make(chan reply), over: make(chan struct{})}
	var err error
	if c.Process, err = child.Start(cmd, c.listen); err != nil {
		return nil, &StartError{Cause: err}
	}
	if err = c.awaitReady(ctx); err == nil {
		return c, nil
	}
	how := c.end(err)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, &StartError{Cause: errors.New(how), Stderr: c.Said.String()}
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

func (c *worked) awaitReady(ctx context.Context) error {
	late := time.NewTimer(defaultSilence)
	defer late.Stop()
	r, err := c.next(ctx, late.C)
	if err == nil && r.Ready != protocol {
		return fmt.Errorf("%w: the child is of another version of the program", child.ErrGarbage)
	}
	return err
}

// listen reads the output of the child until it ends.
func (c *worked) listen(out *child.Reader) {
	c.broken = c.read(out)
	close(c.replies)
}

func (c *worked) read(out *child.Reader) error {
	for {
		var r reply
		if err := out.Read(&r); err != nil {
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
// context, or wraps child.ErrGarbage.
func (c *worked) next(ctx context.Context, late <-chan time.Time) (reply, error) {
	select {
	case r, ok := <-c.replies:
		switch {
		case ok:
			return r, nil
		case errors.Is(c.broken, child.ErrGarbage):
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
func (c *worked) ask(ctx context.Context, req request, silence time.Duration, step func()) (reply, error) {
	c.Said.Reset()
	go func() { _ = c.Lines.Write(req) }() // it can block
	late := time.NewTimer(silence)
	defer late.Stop()
	for {
		r, err := c.next(ctx, late.C)
		switch {
		case err != nil:
			return r, err
		case r.ID != req.ID || r.Ready != 0:
			return r, fmt.Errorf("%w: the child was sent job %d and answered job %d", child.ErrGarbage, req.ID, r.ID)
		case r.Error != "":
			return r, &JobError{Text: r.Error}
		case !r.Step:
			return r, nil
		}
		late.Reset(silence)
		step()
	}
}

// end ends a child after the error why of next or ask, and waits until it has exited. It
// returns a description of how the child ended.
func (c *worked) end(why error) string {
	if !errors.Is(why, errEnded) {
		c.kill()
		return why.Error()
	}
	c.retire()
	if err := c.State(); err != nil {
		return fmt.Sprintf("it ended by itself: %v", err)
	}
	return "it ended by itself, with exit status 0"
}

// retire ends a child, which is killed if it takes too long.
func (c *worked) retire() {
	close(c.over)
	c.Retire()
}

// kill kills a child, and waits until it has exited.
func (c *worked) kill() {
	close(c.over)
	c.Kill()
}
