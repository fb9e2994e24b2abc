package child

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// Process is a child process, in its parent. Its methods are safe for concurrent use.
type Process struct {
	// Lines are those to the child. A write can block; if it fails, the child has ended.
	Lines *Writer
	// Said has what the child wrote to standard error.
	Said *Excerpt

	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	gone  chan struct{}
	state error // set before gone is closed
}

// Start starts a command. It takes the standard input and output of the child, and its standard error. On a goroutine
// of its own, read reads what the child says until it does not want more, or there is none, and then the end of the
// process is awaited.
func Start(cmd *exec.Cmd, read func(*Reader)) (*Process, error) {
	p := &Process{cmd: cmd, Said: new(Excerpt), gone: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = p.Said, graceForOutput
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.Lines = NewWriter(p.in)
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		read(NewReader(p.out))
		p.state = cmd.Wait()
	}()
	return p, nil
}

// How long a child may take to end by itself, and how long the parent waits for the end of its output when a process
// that the child has started still has that open.
const (
	graceToEnd     = 5 * time.Second
	graceForOutput = time.Second
)

// Gone is closed when the process has exited. [Process.State] says how.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// State is the error of the command that has ended, nil for the exit status 0. It waits for the end.
func (p *Process) State() error {
	<-p.gone
	return p.state
}

// ID is the process id.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Retire closes the input of the child and waits until it has exited. A child that takes too long is killed.
func (p *Process) Retire() {
	_ = p.in.Close() // it may be closed already
	late := time.NewTimer(graceToEnd)
	defer late.Stop()
	select {
	case <-p.gone:
	case <-late.C:
		p.Kill()
	}
}

// Kill kills the process, by its id, closes its pipes, so that the rest of its output is not read, and waits until it
// has exited.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have exited already
	_ = p.out.Close()
	_ = p.in.Close()
	<-p.gone
}
