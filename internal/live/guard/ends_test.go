//go:build linux

package guard_test

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

	"locksim/internal/live/guard"
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

// program starts processes and says which: in the folder, there and stopped, elsewhere and registered, and elsewhere in
// the group of a registered one. Then it returns, ends in order on a signal, or hangs.
func program(how string) error {
	g, err := guard.Start("locksim-guard-")
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
	inside, err := guard.Sleeper(g.Dir())
	if err := say(inside, err); err != nil {
		return err
	}
	sub := filepath.Join(g.Dir(), "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		return err
	}
	stopped, err := guard.Sleeper(sub)
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
	if signal.Ignored(os.Interrupt) { // by a shell that runs the tests in its background
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		<-c
		os.Exit(2)
	}
	select {}
}

// However a program ends, nothing is left of it soon after: it returns or ends in order, is killed, is killed with its
// group, at a moment when it has started some of its processes, and with a guard that was told to end. LOCKSIM_SOAK=1
// is 100 times.
func TestProgramEnds(t *testing.T) {
	const patience = time.Minute // on a busy machine; it is five seconds on one that has a processor for the guard
	var longest time.Duration
	defer func() { t.Logf("the longest took %v", longest) }()
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
		var started []any
		for lines := bufio.NewScanner(out); moment > 0 && lines.Scan(); moment-- {
			switch kind, value, _ := strings.Cut(lines.Text(), " "); kind {
			case "dir":
			case "pid":
				pid, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				if id, runs := guard.Identify(pid); runs {
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
		begin := time.Now()
		for left := guard.LeftOf(t, tmp, started); len(left) > 0; left = guard.LeftOf(t, tmp, started) {
			if time.Since(begin) > patience {
				t.Fatalf("%+v: %v later there are still %v", end, patience, left)
			}
			time.Sleep(10 * time.Millisecond)
		}
		longest = max(longest, time.Since(begin))
	}
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
		if environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil &&
			strings.Contains(string(environment), guard.AsGuard+"=") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}
