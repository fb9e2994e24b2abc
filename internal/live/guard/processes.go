//go:build linux

package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// identity tells a process from others that have the same id at other times.
type identity struct {
	pid   int
	start uint64 // in ticks of the kernel since the machine started
}

// status is what the kernel says of a process.
type status struct {
	identity
	state byte // as in ps: R, S, T for stopped, Z for one that its parent has not waited for
	group int
}

func statusOf(pid int) (s status, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// the name before it may have any character
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return s, fmt.Errorf("/proc/%d/stat has %d fields after the name", pid, len(fields))
	}
	s.pid, s.state = pid, fields[0][0]
	s.group, err = strconv.Atoi(fields[2])
	if err != nil {
		return s, err
	}
	s.start, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err
}

// belongs reports whether a process works in a folder, was registered, or is in a group whose leader was. A group whose
// leader has ended is left alone: another one may have its id.
func belongs(s status, dir string, registered map[identity]bool) bool {
	if s.state == 'Z' || s.pid == os.Getpid() {
		return false
	}
	if registered[s.identity] {
		return true
	}
	if len(registered) > 0 {
		if leader, err := statusOf(s.group); err == nil && registered[leader.identity] {
			return true
		}
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.pid))
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/") || cwd == dir+" (deleted)")
}

// processes are those of a folder and those that were registered.
func processes(dir string, registered map[identity]bool) (all []status, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := statusOf(pid); err == nil && belongs(s, dir, registered) {
			all = append(all, s)
		}
	}
	return all, nil
}

// signal sends a signal to a process, unless it has ended meanwhile, also if another one has its id by now.
func (s status) signal(sig syscall.Signal) {
	p, err := os.FindProcess(s.pid) // it refers to this process from here on, by a file descriptor
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, err := statusOf(s.pid); err == nil && now.identity == s.identity {
		_ = p.Signal(sig)
	}
}

// tries is how often processes are looked at, with a pause of a millisecond, before that fails.
const tries = 4000

func kill(dir string, registered map[identity]bool) error {
	return until(dir, registered, syscall.SIGKILL, "end", func(status) bool { return false })
}

// until sends a signal to all processes that are not done, until all are, twice in a row: a process may have started
// another one while the first list was made.
func until(dir string, registered map[identity]bool, sig syscall.Signal, verb string, done func(status) bool) error {
	if !filepath.IsAbs(dir) || dir == "/" {
		return fmt.Errorf("%q is no folder of a guard", dir)
	}
	for try, inARow := 0, 0; ; try++ {
		all, err := processes(dir, registered)
		if err != nil {
			return err
		}
		var open []int
		for _, s := range all {
			if !done(s) {
				open = append(open, s.pid)
				s.signal(sig)
			}
		}
		switch {
		case len(open) > 0 && try >= tries:
			return fmt.Errorf("processes %v do not %s", open, verb)
		case len(open) > 0:
			inARow = 0
		case inARow == 1:
			return nil
		default:
			inARow++
		}
		pause()
	}
}

// pause lets a millisecond of real time pass, also in a bubble.
func pause() {
	ts := syscall.NsecToTimespec(int64(time.Millisecond))
	_ = syscall.Nanosleep(&ts, nil)
}

// Kill kills the processes that work in a folder, stopped ones too, and waits for their end. Here and below the folder
// is an absolute path without symbolic links, as [Guard.Dir] is.
func Kill(dir string) error { return kill(dir, nil) }

// Stop stops the processes that work in a folder, by SIGSTOP, and waits until all of them stand.
func Stop(dir string) error {
	return until(dir, nil, syscall.SIGSTOP, "stop", func(s status) bool { return s.state == 'T' || s.state == 't' })
}

// Continue lets the processes that work in a folder go on after [Stop], and waits until all of them do.
func Continue(dir string) error {
	return until(dir, nil, syscall.SIGCONT, "go on", func(s status) bool { return s.state != 'T' })
}

// Exited reports whether a child of this program has exited, also if nothing has waited for it yet.
func Exited(p *os.Process) bool {
	s, err := statusOf(p.Pid)
	return err != nil || s.state == 'Z'
}

// removeSharedMemory removes the segments that PostgreSQL notes in its postmaster.pid, with the id at the end of line
// 7. A server that has ended in order has removed both.
func removeSharedMemory(dir string) (err error) {
	for _, depth := range []string{"*", "*/*", "*/*/*"} {
		notes, failure := filepath.Glob(filepath.Join(dir, depth, "postmaster.pid"))
		err = errors.Join(err, failure)
		for _, note := range notes {
			err = errors.Join(err, removeSegment(note))
		}
	}
	return err
}

func removeSegment(note string) error {
	text, err := os.ReadFile(note)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 7 || len(strings.Fields(lines[6])) != 2 {
		return nil // the server has none yet
	}
	id, err := strconv.Atoi(strings.Fields(lines[6])[1])
	if err != nil {
		return fmt.Errorf("%s: %w", note, err)
	}
	const remove = 0 // IPC_RMID
	if _, _, errno := syscall.Syscall(syscall.SYS_SHMCTL, uintptr(id), remove, 0); errno != 0 && errno != syscall.EINVAL {
		return fmt.Errorf("remove the shared memory of PostgreSQL: %w", errno)
	}
	return nil
}
