package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/scenarios"
)

// TestOfACrash is the test in the processes of TestCheckAfterACrash: a goroutine of
// its lock panics in one of 50 runs.
func TestOfACrash(t *testing.T) {
	dir := os.Getenv("LOCKSIM_TEST_CRASH_DIR")
	if dir == "" {
		t.Skip("it is a part of TestCheckAfterACrash")
	}
	runs := 0
	l := testlocks.UserLock("theirs", func(e scenarios.Env, l lock.Locker) lock.Locker {
		number := e.Source("crash").Uint64()
		if testlocks.IsRunStart(e) {
			runs++
			if number%50 == 7 && os.Getenv("LOCKSIM_TEST_CRASH") != "" {
				go panic(fmt.Sprintf("in run %d, number %d", runs, number))
			}
		}
		return l
	})
	l.Promise, _ = lock.PromiseOf("single")
	scenarios.Check(t, l, scenarios.Options{Seed: 1, Runs: 100, Dir: dir})
	fmt.Printf("%d runs\n", runs)
}

// A panic in a goroutine of a lock's own ends the process. The next process says which
// run it was and plays it first, and so do those after it until the run no longer
// ends the process. A test that ends leaves no file.
func TestCheckAfterACrash(t *testing.T) {
	if testing.Short() {
		t.Skip("makes hundreds of runs in four processes")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "testdata", "locksim")
	process := func(crash string) (output string, ok bool) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOfACrash$")
		cmd.Env = append(os.Environ(), "LOCKSIM_TEST_CRASH_DIR="+dir, "LOCKSIM_TEST_CRASH="+crash)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	panicked := func(output string) (run int, number string) {
		t.Helper()
		m := regexp.MustCompile(`panic: in run (\d+), number (\d+)`).FindStringSubmatch(output)
		if m == nil {
			t.Fatalf("no panic:\n%s", output)
		}
		run, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return run, m[2]
	}
	notice := regexp.MustCompile(`(?m)^TestOfACrash: the last process of this test ended in the run of theirs with seed \d+, which is played first now$`)

	first, _ := process("1")
	firstRun, number := panicked(first)
	if notice.MatchString(first) {
		t.Errorf("the first process has a notice:\n%s", first)
	}
	second, _ := process("1")
	secondRun, again := panicked(second)
	if again != number || secondRun != 4 || firstRun <= secondRun { // three runs find out what the lock needs
		t.Errorf("number %s in run %d, then number %s in run %d", number, firstRun, again, secondRun)
	}
	seed := notice.FindString(second)
	if third, _ := process("1"); seed == "" || notice.FindString(third) != seed {
		t.Errorf("%q in the second process, and in the third one:\n%s", seed, third)
	}
	repaired, ok := process("")
	if !ok || notice.FindString(repaired) != seed {
		t.Errorf("want a pass and %q:\n%s", seed, repaired)
	}
	if after, ok := process(""); !ok || notice.MatchString(after) {
		t.Errorf("want a pass and no notice:\n%s", after)
	}
	if _, err := os.Stat(dir); err != nil { // it is not made for the last two
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v: %v", left, err)
	}
}
