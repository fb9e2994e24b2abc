package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// asPromising is the environment variable for a child whose mylock is promising.
const asPromising = "LOCKSIM_APP_TEST_PROMISED"

// promising is mylock with the promise of the single lock.
func promising() subject.Lock {
	l := mylock()
	l.Promise, _ = lock.PromiseOf("single")
	l.Promise.Duties = nil
	return l
}

// A program can review its own lock. Each command of the review names that program, and
// the command of a failure finds it again.
func TestReviewOfAnExtraLock(t *testing.T) {
	testruns.OnlyWhole(t)
	t.Setenv(asChild, "1")
	t.Setenv(asPromising, "1")
	dir := filepath.Join(t.TempDir(), "mine")
	code, out, errs := call(t, []subject.Lock{promising()}, "report", "--review", "--lock", "mylock", "--seeds", "1",
		"--runs", "70", "--out", dir)
	if code != console.ExitExpected || !strings.HasSuffix(out, filepath.Join(dir, "review.md")+"\n") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	b, err := os.ReadFile(filepath.Join(dir, "review.md"))
	if err != nil {
		t.Fatal(err)
	}
	md := string(b)
	for _, text := range []string{"# Design review: lock mylock\n", "This lock has no description",
		"How does the lock work?",
		"<code>mysim run gc-pause --lock mylock --seed 1 --fencing none,claim,cas</code>", "\nmysim report --review --lock " +
			"mylock --seeds 1 --runs 70\n```\n"} {
		if !strings.Contains(md, text) {
			t.Errorf("the review lacks %q", text)
		}
	}
	if other := regexp.MustCompile(`(?m)^(?:go run|locksim) .*$`).FindString(md); other != "" {
		t.Errorf("a command names another program: %s", other)
	}
	first := regexp.MustCompile(`(?m)^### 1\. (\w+ in mode none: .*)$`).FindStringSubmatch(md)
	if first == nil {
		t.Fatalf("the review has no failure:\n%s", md)
	}
	again := strings.Fields(regexp.MustCompile(`(?m)^mysim (explore .*)$`).FindStringSubmatch(md)[1])
	if code, out, errs = call(t, []subject.Lock{promising()}, again...); code != console.ExitUnexpected ||
		!strings.Contains(out, "VIOLATION 1: "+first[1]+" ") {
		t.Errorf("%q does not find the failure again: exit code %d\n%s%s", again, code, out, errs)
	}
}
