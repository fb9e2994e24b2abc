//go:build linux

package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Sleeper is a process that sleeps for long.
func Sleeper(dir string) (*exec.Cmd, error) {
	cmd := exec.Command("sleep", "1000")
	cmd.Dir = dir
	return cmd, cmd.Start()
}

// AsGuard is the variable that makes a program a guard.
const AsGuard = asGuard

// Identify is the identity of a process, and whether it runs.
func Identify(pid int) (id any, runs bool) {
	s, err := statusOf(pid)
	return s.identity, err == nil && s.state != 'Z'
}

// LeftOf is what there still is of a program: its processes, and what is in its folder for temporary files.
func LeftOf(t *testing.T, dir string, started []any) (all []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	inside, err := processes(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range inside {
		all = append(all, fmt.Sprint("process ", s.pid))
	}
	for _, id := range started {
		pid := id.(identity).pid
		if now, runs := Identify(pid); runs && now == id {
			all = append(all, fmt.Sprint("process ", pid))
		}
	}
	return all
}

// A process that has the id of a registered one which has ended is left alone, with its group.
func TestReusedID(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	id, runs := Identify(cmd.Process.Pid)
	if !runs {
		t.Fatal("the process does not run")
	}
	now := id.(identity)
	dir := t.TempDir()
	if err := kill(dir, map[identity]bool{{now.pid, now.start - 1}: true}); err != nil {
		t.Fatal(err)
	}
	status{identity: identity{now.pid, now.start - 1}}.signal(syscall.SIGKILL) // it ended between the look and the signal
	time.Sleep(20 * time.Millisecond)
	if _, runs := Identify(now.pid); !runs {
		t.Fatal("another process was killed")
	}
	if err := kill(dir, map[identity]bool{now: true}); err != nil {
		t.Fatal(err)
	}
	if _, runs := Identify(now.pid); runs {
		t.Error("the process still runs")
	}
}

// End does what the guard does; if the guard was killed, the program does it.
func TestEnd(t *testing.T) {
	for _, killed := range []string{"", "killed"} {
		g, err := Start("locksim-guard-")
		if err != nil {
			t.Fatal(err)
		}
		inside, err := Sleeper(g.Dir())
		if err != nil {
			t.Fatal(err)
		}
		registered, err := Sleeper("/")
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Register(registered.Process); err != nil {
			t.Fatal(err)
		}
		var all []any
		for _, cmd := range []*exec.Cmd{inside, registered} {
			id, _ := Identify(cmd.Process.Pid)
			all = append(all, id)
		}
		if killed != "" {
			_ = g.cmd.Process.Kill()
		}
		if err := g.End(); err != nil {
			t.Error(err)
		}
		if left := LeftOf(t, g.Dir(), all); len(left) > 0 {
			t.Errorf("guard %s: still there: %v", killed, left)
		}
		if err := g.Register(registered.Process); err == nil {
			t.Error("a guard that has ended registers a process")
		}
		if err := g.End(); err != nil {
			t.Error(err)
		}
		_, _ = inside.Process.Wait()
		_, _ = registered.Process.Wait()
	}
}

// Processes of a folder are stopped and go on, those of another folder are not touched.
func TestStopAndContinue(t *testing.T) {
	dir := t.TempDir()
	var state []func() byte
	for _, where := range []string{dir, dir + "x"} {
		if err := os.MkdirAll(where, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd, err := Sleeper(where)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		state = append(state, func() byte {
			s, err := statusOf(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			return s.state
		})
	}
	for _, step := range []struct {
		do      func(string) error
		stopped bool
	}{{Stop, true}, {Stop, true}, {Continue, false}, {Continue, false}} {
		if err := step.do(dir); err != nil {
			t.Fatal(err)
		}
		if stopped := state[0]() == 'T'; stopped != step.stopped {
			t.Errorf("stopped: %v, want %v", stopped, step.stopped)
		}
		if state[1]() == 'T' {
			t.Error("a process of another folder is stopped")
		}
	}
	if err := os.RemoveAll(dir + "x"); err != nil {
		t.Fatal(err)
	}
}

// A folder that would mean every process is refused.
func TestNoFolder(t *testing.T) {
	for _, dir := range []string{"", "/", "tmp"} {
		const nothing = syscall.Signal(0)
		if err := until(dir, nil, nothing, "", func(status) bool { return true }); err == nil {
			t.Errorf("the processes of %q would get signals", dir)
		}
	}
}

// What programs are called and which spaces and brackets are in it does not matter.
func TestStatusOfOddName(t *testing.T) {
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "a) T (b 1")
	if err := os.Symlink(path, odd); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(odd, "1000")
	cmd.Args[0] = path // a program of many names looks at it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s, err := statusOf(cmd.Process.Pid)
	if err != nil || s.pid != cmd.Process.Pid || s.group != syscall.Getpgrp() {
		t.Errorf("%+v, %v", s, err)
	}
}
