//go:build linux

package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"locksim/internal/live/guard"
)

// Process is the process of a server.
type Process struct {
	// Name is what its errors call it, such as PostgreSQL.
	Name string
	// Program, Args and Env are how it is started. Set them before [Process.Run].
	Program   string
	Args, Env []string

	dir   string
	cmd   *exec.Cmd    // nil: it does not run
	guard *guard.Guard // nil: the caller's
}

// Open gives the process its folder: that of the caller, whose guard ends what runs in it, or one of its own, whose
// name begins with prefix.
func (p *Process) Open(dir, prefix string) (err error) {
	if p.dir = dir; dir == "" {
		if p.guard, err = guard.Start(prefix); err != nil {
			return err
		}
		p.dir = p.guard.Dir()
	}
	return guard.Own(p.dir)
}

// Dir is the private folder.
func (p *Process) Dir() string { return p.dir }

// Command is a program that runs in the folder, as an unprivileged user.
func (p *Process) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	guard.Prepare(cmd)
	return cmd
}

// log is the file for what the server says.
func (p *Process) log() string { return filepath.Join(p.dir, "log") }

// Run starts the process with more environment, and returns at once. It starts no goroutine, so it can be called in a
// bubble.
func (p *Process) Run(env ...string) error {
	log, err := os.OpenFile(p.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the server has it
	cmd := p.Command(context.Background(), p.Program, p.Args...)
	cmd.Env = append(append(cmd.Env, p.Env...), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.cmd = cmd
	return nil
}

// Await waits until ready returns nil. It must be called outside of any bubble. The error has what the server has said,
// and wraps [ErrExited] if it has exited.
func (p *Process) Await(ctx context.Context, ready func() error) error {
	for ready() != nil {
		reason := ctx.Err()
		if p.Exited() {
			reason = ErrExited
		}
		if reason != nil {
			return p.Failed(reason)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// Failed is the error of a server that does not serve for a reason, with what it has said.
func (p *Process) Failed(reason error) error {
	log, _ := os.ReadFile(p.log())
	return fmt.Errorf("%s does not serve: %w\n%s", p.Name, reason, log)
}

// Exited reports whether the process has exited, or was not started.
func (p *Process) Exited() bool { return p.cmd == nil || guard.Exited(p.cmd.Process) }

// ID is the id of the process. ok is false if it was not started.
func (p *Process) ID() (id int, ok bool) {
	if p.cmd == nil {
		return 0, false
	}
	return p.cmd.Process.Pid, true
}

// Crash kills all processes in the folder, and waits for their end.
func (p *Process) Crash() error {
	if p.cmd == nil {
		return nil
	}
	err := guard.Kill(p.dir)
	_ = p.cmd.Wait() // it was killed
	p.cmd = nil
	return err
}

// Stop ends the process, and removes the folder.
func (p *Process) Stop() error {
	if p.guard == nil {
		return errors.Join(p.Crash(), os.RemoveAll(p.dir))
	}
	err := p.guard.End()
	if p.cmd != nil {
		_ = p.cmd.Wait() // it was killed
	}
	return err
}
