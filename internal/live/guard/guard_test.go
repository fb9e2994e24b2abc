//go:build linux

package guard

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksim/internal/testruns"
)

// asProgram makes the test program start a guard and processes, and hang or return.
const asProgram = "LOCKSIM_GUARDED"

func TestMain(m *testing.M) {
	if how := os.Getenv(asProgram); how != "" {
		if err := program(how); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sleeper is a process that sleeps for long.
func sleeper(dir string) (*exec.Cmd, error) {
	cmd := exec.Command("sleep", "1000")
	cmd.Dir = dir
	return cmd, cmd.Start()
}

// program starts processes and says which: in the folder, there and stopped, elsewhere and registered, and elsewhere in the
// group of a registered one. Then it returns, ends in order on a signal, or hangs.
func program(how string) error {
	g, err := Start("locksim-guard-")
	if err != nil {
		return err
	}
	fmt.Println("dir", g.Dir())
	say := func(cmd *exec.Cmd, err error) error {
		if err == nil {
			fmt.Println("pid", cmd.Process.Pid)
		}
		return err
	}
	inside, err := sleeper(g.Dir())
	if err := say(inside, err); err != nil {
		return err
	}
	sub := filepath.Join(g.Dir(), "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		return err
	}
	stopped, err := sleeper(sub)
	if err := say(stopped, err); err != nil {
		return err
	}
	if err := stopped.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	leader := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	leader.Dir = "/"
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := leader.StdoutPipe()
	if err != nil {
		return err
	}
	if err := leader.Start(); err != nil {
		return err
	}
	if err := g.Register(leader.Process); err != nil {
		return err
	}
	member, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	fmt.Print("pid ", leader.Process.Pid, "\npid ", member, "ready\n")
	switch how {
	case "return":
		return nil
	case "end":
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt, syscall.SIGTERM)
		<-c
		return g.End()
	}
	select {}
}

// identityOf is the identity of a process that runs; ok is false if there is none.
func identityOf(pid int) (identity, bool) {
	s, err := statusOf(pid)
	return s.identity, err == nil && s.state != 'Z'
}

// However a program ends, nothing is left of it after five seconds: it returns or ends in order, is killed, is killed with
// its group, at a moment when it has started some of its processes, and with a guard that was told to end. LOCKSIM_SOAK=1 is
// 100 times.
func TestProgramEnds(t *testing.T) {
	for n := range testruns.Soak(t, 100, 0.2) {
		ends := []struct {
			how  string
			sig  syscall.Signal
			whom int // -1: the process group
		}{
			{"return", 0, 1}, {"end", syscall.SIGINT, 1}, {"end", syscall.SIGTERM, -1}, {"hang", syscall.SIGINT, -1},
			{"hang", syscall.SIGKILL, 1}, {"hang", syscall.SIGKILL, -1}, {"hang", syscall.SIGQUIT, -1},
		}
		end := ends[n%len(ends)]
		cmd := exec.Command(os.Args[0])
		tmp := t.TempDir()
		cmd.Env = append(os.Environ(), asProgram+"="+end.how, "TMPDIR="+tmp)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		moment := rand.IntN(6) // how many lines it says before its end; often all
		if end.how != "hang" || n%2 == 0 {
			moment = 6
		}
		if moment == 0 { // it may have no folder yet
			time.Sleep(rand.N(20 * time.Millisecond))
		}
		var started []identity
		for lines := bufio.NewScanner(out); moment > 0 && lines.Scan(); moment-- {
			switch kind, value, _ := strings.Cut(lines.Text(), " "); kind {
			case "dir":
			case "pid":
				pid, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				if id, ok := identityOf(pid); ok {
					started = append(started, id)
				}
			case "ready":
				if len(started) != 4 && end.how != "return" {
					t.Fatalf("processes %v were started, want 4", started)
				}
			default:
				t.Fatal(lines.Text())
			}
		}
		if n%3 == 1 {
			endGuard(t, cmd.Process.Pid)
		}
		if end.sig != 0 {
			_ = syscall.Kill(end.whom*cmd.Process.Pid, end.sig)
		}
		_ = cmd.Wait()
		deadline := time.Now().Add(5 * time.Second)
		for left := leftOf(t, tmp, started); len(left) > 0; left = leftOf(t, tmp, started) {
			if time.Now().After(deadline) {
				t.Fatalf("%+v: five seconds later there are still %v", end, left)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// leftOf is what there still is of a program: its processes, and what is in its folder for temporary files.
func leftOf(t *testing.T, dir string, started []identity) (all []string) {
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
		if now, ok := identityOf(id.pid); ok && now == id {
			all = append(all, fmt.Sprint("process ", id.pid))
		}
	}
	return all
}

// endGuard tells the guard of a program to end, as killall does.
func endGuard(t *testing.T, program int) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", program, program))
	if err != nil {
		return // it has ended
	}
	for _, field := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && strings.Contains(string(environment), asGuard+"=") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// A process that has the id of a registered one which has ended is left alone, with its group.
func TestReusedID(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	now, ok := identityOf(cmd.Process.Pid)
	if !ok {
		t.Fatal("the process does not run")
	}
	dir := t.TempDir()
	if err := kill(dir, map[identity]bool{{now.pid, now.start - 1}: true}); err != nil {
		t.Fatal(err)
	}
	status{identity: identity{now.pid, now.start - 1}}.signal(syscall.SIGKILL) // it ended between the look and the signal
	time.Sleep(20 * time.Millisecond)
	if _, ok := identityOf(now.pid); !ok {
		t.Fatal("another process was killed")
	}
	if err := kill(dir, map[identity]bool{now: true}); err != nil {
		t.Fatal(err)
	}
	if _, ok := identityOf(now.pid); ok {
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
		inside, err := sleeper(g.Dir())
		if err != nil {
			t.Fatal(err)
		}
		registered, err := sleeper("/")
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Register(registered.Process); err != nil {
			t.Fatal(err)
		}
		var all []identity
		for _, cmd := range []*exec.Cmd{inside, registered} {
			id, _ := identityOf(cmd.Process.Pid)
			all = append(all, id)
		}
		if killed != "" {
			_ = g.cmd.Process.Kill()
		}
		if err := g.End(); err != nil {
			t.Error(err)
		}
		if left := leftOf(t, g.Dir(), all); len(left) > 0 {
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
		cmd, err := sleeper(where)
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
