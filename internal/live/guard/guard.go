//go:build linux

package guard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// asGuard makes a program that imports this package a guard, of a folder whose name begins so.
const asGuard = "LOCKSIM_GUARD"

func init() {
	if prefix := os.Getenv(asGuard); prefix != "" {
		os.Exit(guard(prefix))
	}
}

// guard makes a folder, says where it is, waits until its parent has ended or closes the pipe, and clears up. The
// result is the exit code.
func guard(prefix string) int {
	// they are meant for the program
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return failed(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // servers that run as another user have folders in it
		return failed(errors.Join(err, os.Remove(dir)))
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // processes say the real name of theirs
		return failed(err)
	}
	_, _ = fmt.Println(dir) // if the program has ended already, so does the input
	_ = os.Stdout.Close()
	registered := map[identity]bool{}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var p identity
		if _, err := fmt.Sscan(in.Text(), &p.pid, &p.start); err == nil { // else the program ended in the middle of a line
			registered[p] = true
		}
	}
	if err := clear(dir, registered); err != nil {
		return failed(err)
	}
	return 0
}

func failed(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, "locksim: what the program has left:", err)
	return 1
}

// clear kills the processes of a folder and those that were registered, and removes the folder and the shared memory
// that is noted there.
func clear(dir string, registered map[identity]bool) error {
	return errors.Join(kill(dir, registered), removeSharedMemory(dir), os.RemoveAll(dir))
}

// Guard is a process that outlives this one. Its methods are safe for concurrent use.
type Guard struct {
	dir string
	cmd *exec.Cmd

	mu         sync.Mutex
	pipe       io.WriteCloser
	registered map[identity]bool
	ended      bool
}

// Start starts a guard, which makes a folder for temporary files. The name of the folder begins with the prefix.
func Start(prefix string) (*Guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asGuard+"="+prefix)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals of a terminal and of a process group are not for it
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a guard: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("start a guard: it makes no folder: %w", errors.Join(err, cmd.Wait()))
	}
	return &Guard{dir: strings.TrimSuffix(line, "\n"), cmd: cmd, pipe: in, registered: map[identity]bool{}}, nil
}

// Dir is the folder. A process whose working directory is the folder, or a folder in it, ends with the program.
func (g *Guard) Dir() string { return g.dir }

// Register makes a process end with the program, and with it the other processes of its group if it leads one. It is
// for processes that work elsewhere than in the folder. The process is a child of this program that has not been waited
// for.
func (g *Guard) Register(p *os.Process) error {
	s, err := statusOf(p.Pid)
	if err != nil {
		return fmt.Errorf("register process %d with the guard: %w", p.Pid, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return fmt.Errorf("register process %d with the guard: the guard has ended", p.Pid)
	}
	g.registered[s.identity] = true
	if _, err := fmt.Fprintf(g.pipe, "%d %d\n", s.pid, s.start); err != nil {
		return fmt.Errorf("register process %d with the guard: %w", p.Pid, err)
	}
	return nil
}

// End makes the guard do its work now, and waits for it. If the guard was killed before, this program does it. Later
// calls do nothing.
func (g *Guard) End() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return nil
	}
	g.ended = true
	_ = g.pipe.Close()
	if g.cmd.Wait() == nil {
		return nil
	}
	return clear(g.dir, g.registered)
}
