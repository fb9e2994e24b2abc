//go:build linux

package pgserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// asGuardian makes a program that imports this package a guardian of the folder that it names.
const asGuardian = "LOCKSIM_PG_GUARDIAN"

func init() {
	if dir := os.Getenv(asGuardian); dir != "" {
		guard(dir)
		os.Exit(0)
	}
}

// guard waits until its parent has ended, however that was, and then ends all that is left of a server.
func guard(dir string) {
	if !strings.HasPrefix(filepath.Base(dir), folderPrefix) { // what is in the folder is killed and removed
		_, _ = fmt.Fprintf(os.Stderr, "locksim: %s=%s is no folder of a PostgreSQL\n", asGuardian, dir)
		os.Exit(2)
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // killall LOCKSIM is for the program, not for this one
	_, _ = io.Copy(io.Discard, os.Stdin)                         // the parent never writes: this ends when the pipe is closed
	if err := clear(dir); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "locksim: what is left of PostgreSQL:", err)
	}
}

// guardian is a process that outlives this one, and ends what is left of a server then.
type guardian struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// startGuardian starts a guardian of a folder: this program, once more.
func startGuardian(dir string) (*guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asGuardian+"="+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the interrupt of a terminal is not for it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guardian{cmd, pipe}, nil
}

// end lets the guardian do its work, and waits for it.
func (g *guardian) end() error {
	_ = g.pipe.Close()
	return g.cmd.Wait()
}

// clear kills the processes that work in a folder, and removes what they have left: their shared memory, and the folder.
func clear(dir string) error {
	return errors.Join(kill(dir), removeSharedMemory(dir), os.RemoveAll(dir))
}

// kill kills the processes that work in a folder, and waits for their end.
func kill(dir string) error {
	for tries := 4000; ; tries-- {
		all, err := processesIn(dir)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return nil
		}
		if tries == 0 {
			return fmt.Errorf("processes %v do not end", all)
		}
		for _, pid := range all { // also one that was stopped, which takes no other signal
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		pause()
	}
}

// pause lets a millisecond of real time pass, also in a bubble.
func pause() {
	ts := syscall.NsecToTimespec(int64(time.Millisecond))
	_ = syscall.Nanosleep(&ts, nil)
}

// processesIn are the processes whose working directory is in a folder: all those of a server, which has backends in
// sessions of their own.
func processesIn(dir string) (all []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/")) && pid != os.Getpid() {
			all = append(all, pid)
		}
	}
	return all, nil
}

// removeSharedMemory removes the segment that a server notes in its postmaster.pid, with its id at the end of line 7. A
// server that has ended in order has removed both.
func removeSharedMemory(dir string) error {
	f, err := os.Open(filepath.Join(dir, data, "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is only read
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if n != 7 || len(fields) != 2 {
			continue
		}
		id, err := strconv.Atoi(fields[1])
		if err != nil {
			return fmt.Errorf("postmaster.pid: %w", err)
		}
		const remove = 0 // IPC_RMID
		if _, _, errno := syscall.Syscall(syscall.SYS_SHMCTL, uintptr(id), remove, 0); errno != 0 && errno != syscall.EINVAL {
			return fmt.Errorf("remove the shared memory of PostgreSQL: %w", errno)
		}
	}
	return lines.Err()
}
