package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"locksim/internal/live/guard"
)

// errExited says that a process has ended before it served: its port was taken, or its arguments were wrong.
var errExited = errors.New("the server has exited")

// process is a server of one process.
type process struct {
	dir string
	env []string
	// command makes the command. It is called again for each restart.
	command func() *exec.Cmd
	// ready returns nil once the process with this id accepts connections.
	ready func(pid int) error
	// heard is called with each line that it prints. Nil is for no one who hears.
	heard func(line string)

	said   *output
	exited chan struct{} // closed once it has ended; nil before the first start
}

func (p *process) start(ctx context.Context) error {
	cmd := p.command()
	cmd.Dir = p.dir
	cmd.Env = append([]string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"},
		append(p.env, cmd.Env...)...)
	guard.Prepare(cmd)
	said, exited := &output{heard: p.heard}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return err
	}
	p.said, p.exited = said, exited
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	for {
		err := p.ready(cmd.Process.Pid)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("it accepts no connections: %w (%w)", ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *process) kill() error {
	if p.exited == nil {
		return nil
	}
	err := guard.Kill(p.dir)
	<-p.exited
	return err
}

func (p *process) output() string {
	if p.said == nil {
		return ""
	}
	return p.said.String()
}

// listens returns nil once something accepts connections.
func listens(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// enough bounds the stored output of a server.
const enough = 16 << 10

// output stores the end of what a server prints.
type output struct {
	heard func(line string)

	mu   sync.Mutex
	text []byte
	line []byte // the last one, as far as it was printed
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.heard != nil {
		o.line = append(o.line, p...)
		for {
			line, rest, whole := bytes.Cut(o.line, []byte("\n"))
			if !whole {
				break
			}
			o.heard(string(line))
			o.line = rest
		}
	}
	o.text = append(o.text, p...)
	o.text = o.text[max(0, len(o.text)-enough):]
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(string(o.text))
}
