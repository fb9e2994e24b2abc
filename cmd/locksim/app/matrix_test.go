package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/testruns"
	"locksim/reports/markdown"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// matrixOf runs a small matrix as a user's own program would.
func matrixOf(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(asChild, "1")
	return call(t, []subject.Lock{mylock()},
		append([]string{"matrix", "--scenario", "calm,gc-pause", "--seeds", "2", "--quiet"}, args...)...)
}

// reports/MATRIX.md and the pages of its scenarios are the output of the command: with LOCKSIM_SOAK=1 they are made
// anew, otherwise the page of one scenario with few locks is, or those of some on Redis in a smaller soak. The
// others take longer, and the test of package library plays one seed of them.
func TestMatrixIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes thousands of runs")
	}
	t.Setenv(asChild, "yes")
	all, err := redislocks.Library(ownLocks())
	if err != nil {
		t.Fatal(err)
	}
	some := all
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		redis := slices.DeleteFunc(slices.Clone(all), func(sc *file.Scenario) bool { return len(sc.World.Servers) > 0 })
		some = slices.DeleteFunc(slices.Clone(redis), func(sc *file.Scenario) bool { return sc.Name != "token-after-lock" })
		if os.Getenv("LOCKSIM_SOAK") != "" {
			some = nil
			for n, i := testruns.Soak(t, len(redis), 0)/2, 0; i < n; i++ {
				some = append(some, redis[i*len(redis)/n])
			}
		}
	}
	if len(some) == 0 {
		t.Fatal("there is no such scenario")
	}
	var names []string
	for _, sc := range some {
		names = append(names, sc.Name)
	}
	made := t.TempDir()
	code, _, errs := own(t, "matrix", "--scenario", strings.Join(names, ","), "--seeds", "20", "--broken", "--out", made,
		"--no-runs", "--quiet")
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	const reports = "../../../reports"
	stored, err := filepath.Glob(filepath.Join(reports, markdown.MatrixFolder, "*.md"))
	if err != nil || len(stored) != len(all) {
		t.Errorf("%d pages, for %d scenarios: %v", len(stored), len(all), err)
	}
	for _, name := range names {
		page := filepath.Join(markdown.MatrixFolder, name+".md")
		want, err := os.ReadFile(filepath.Join(reports, page))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(made, page))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("reports/%s is out of date: run make matrix, and read the diff (-is +now):\n%s", page, d)
		}
	}
}

// A lock that is passed to Main has its own column, without expectations, and the child
// processes find it too.
func TestMatrixWithExtraLock(t *testing.T) {
	code, out, errs := matrixOf(t, "--lock", "mylock,fenced", "--json")
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var m matrices.Matrix
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range m.Cells {
		got[c.Scenario+" "+c.Lock]++
		if c.Lock == "mylock" && (c.Match != matrices.NothingExpected || c.CellRuns != nil &&
			!strings.HasPrefix(c.Replay, "mysim run "+c.Scenario+" --lock mylock --seed ")) {
			t.Errorf("%+v, replay %q", c, c.Replay)
		}
	}
	if diff := cmp.Diff(map[string]int{"calm fenced": 6, "calm mylock": 6, "gc-pause fenced": 6, "gc-pause mylock": 6},
		got); diff != "" {
		t.Error(diff)
	}
}

// The document is the same but for its timing, with one worker and with three.
func TestMatrixIsStable(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	one, three := t.TempDir(), t.TempDir()
	var out [2]string
	for i, args := range [][]string{{"--workers", "1", "--no-runs", "--out", one}, {"--workers", "3", "--no-runs", "--out",
		three}} {
		code, stdout, errs := matrixOf(t, append(args, "--lock", "fenced,single,mylock")...)
		if code != console.ExitExpected || errs != "" {
			t.Fatalf("exit code %d\n%s", code, errs)
		}
		out[i] = stdout
	}
	if diff := cmp.Diff(out[0], out[1]); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"matrix.json", "matrix.txt", "MATRIX.md"} {
		a, b := untimed(t, filepath.Join(one, name)), untimed(t, filepath.Join(three, name))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if text := untimed(t, filepath.Join(one, "matrix.txt")); text != out[0] {
		t.Errorf("matrix.txt is not what was printed:\n%s", cmp.Diff(text, out[0]))
	}
}

// untimed is a file up to its timing.
func untimed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := bytes.Cut(b, []byte("\n  \"timing\":"))
	return string(before)
}

// A child that exits because of the lock under test is a failure of that pair, with the
// command that shows it; the other pairs have results.
func TestMatrixFailure(t *testing.T) {
	t.Setenv(misbehaving, "exit")
	code, out, errs := matrixOf(t, "--lock", "mylock,fenced", "--fencing", "none")
	if code != console.ExitBroken || !strings.Contains(errs, "calm with mylock: seeds 1 to 2: the worker process ended") ||
		!strings.HasSuffix(errs, "replay: mysim run calm --lock mylock --seed 1 --fencing none\n") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if !strings.Contains(out, "\nFAILED\ncalm, lock mylock:\n") || !strings.Contains(out, "\ncalm      .       FAILED\n") {
		t.Error(out)
	}
}

// Ctrl-C ends the command at once, and no matrix is printed.
func TestMatrixInterrupted(t *testing.T) {
	t.Setenv(misbehaving, "interrupt")
	code, out, errs := matrixOf(t, "--lock", "mylock", "--workers", "1")
	if code != console.ExitBroken || out != "" || errs != "mysim: interrupted, with 0 of 2 jobs done: --out would have "+
		"stored them\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
