package app

import (
	"context"
	"os"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// twoFaced is a lock that excludes no client on real servers.
func twoFaced(real bool) subject.Lock {
	l := mylock()
	inner := l.New
	l.Name = "two-faced"
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		if real && err == nil {
			locker = apart{locker, e.Name()}
		}
		return locker, err
	}
	return l
}

// apart has a lock of its own for each client.
type apart struct {
	lock.Locker
	client string
}

func (a apart) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return a.Locker.Acquire(ctx, resource+" of "+a.client)
}

// A live run with a label that no simulated seed has, also at a larger scale, is not as expected, although its scenario
// expects nothing of the lock.
func TestLiveDiffers(t *testing.T) {
	soak.RealTime(t)
	if err := server.Missing(server.Redis); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	t.Setenv("NO_COLOR", "1")
	dir := t.TempDir()
	code, out, errs := call(t, []subject.Lock{twoFaced(false)}, "run", "calm", "--lock", "two-faced", "--fencing", "none",
		"--live", "--out", dir)
	if strings.Contains(out, "The worlds differ: mode none is ") {
		t.Skip("the machine has too much other work to do")
	}
	stored, err := os.ReadFile(runfiles.Path(dir))
	if err != nil {
		t.Fatalf("%v: exit code %d\n%s%s", err, code, out, errs)
	}
	if code != console.ExitUnexpected ||
		!strings.Contains(out, "in 1 of 1 live run, and never in the simulated world (20 seeds: safe)") ||
		!strings.Contains(string(stored), `"as_expected": false`) ||
		!strings.Contains(errs, "at scale 0.1 live runs differ") ||
		!strings.Contains(out, "--live --scale 0.3\n") {
		t.Errorf("exit code %d\n%s%s%s", code, out, errs, stored)
	}
}
