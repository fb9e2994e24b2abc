package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/lock/fence"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// matrixOf runs a small matrix as a user's own program would.
func matrixOf(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(asChild, "1")
	return call(t, []play.Lock{mylock()}, append([]string{"matrix", "--scenario", "calm,gc-pause", "--seeds", "2"}, args...)...)
}

// A lock that is passed to Main has a column of its own, with nothing expected of
// it, and the children know it too.
func TestMatrixWithExtraLock(t *testing.T) {
	code, out, errs := matrixOf(t, "--lock", "mylock,fenced", "--json")
	if code != exitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var m matrix.Matrix
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range m.Cells {
		got[c.Scenario+" "+c.Lock]++
		if c.Lock == "mylock" && (c.Match != matrix.NothingExpected || c.CellRuns != nil && !strings.HasPrefix(c.Replay, "mysim run "+c.Scenario+" --lock mylock --seed ")) {
			t.Errorf("%+v, replay %q", c, c.Replay)
		}
	}
	if diff := cmp.Diff(map[string]int{"calm fenced": 6, "calm mylock": 6, "gc-pause fenced": 6, "gc-pause mylock": 6}, got); diff != "" {
		t.Error(diff)
	}
}

// One worker or three, today or tomorrow: the document is the same but for its
// timing.
func TestMatrixIsStable(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	one, three := t.TempDir(), t.TempDir()
	var out [2]string
	for i, args := range [][]string{{"--workers", "1", "--no-runs", "--out", one}, {"--workers", "3", "--no-runs", "--out", three}} {
		code, stdout, errs := matrixOf(t, append(args, "--lock", "fenced,single,mylock")...)
		if code != exitExpected || errs != "" {
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

// A child that dies of the lock under test is a failure of that pair, with the
// command that shows it; the other pairs are there.
func TestMatrixFailure(t *testing.T) {
	t.Setenv(misbehaving, "exit")
	code, out, errs := matrixOf(t, "--lock", "mylock,fenced", "--fencing", "none")
	if code != exitBroken || !strings.Contains(errs, "calm with mylock: seeds 1 to 2: the worker process died") ||
		!strings.HasSuffix(errs, "replay: mysim run calm --lock mylock --seed 1 --fencing none\n") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if !strings.Contains(out, "\nFAILED\ncalm, lock mylock:\n") || !strings.Contains(out, "\ncalm      .       FAILED\n") {
		t.Error(out)
	}
}

// Ctrl-C ends the command at once, and nothing is printed that looks like a
// matrix.
func TestMatrixInterrupted(t *testing.T) {
	t.Setenv(misbehaving, "interrupt")
	code, out, errs := matrixOf(t, "--lock", "mylock", "--workers", "1")
	if code != exitBroken || out != "" || errs != "mysim: interrupted, with 0 of 2 jobs done\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// What progress says, and how it takes a job that is tried again.
func TestProgress(t *testing.T) {
	two := []fence.Mode{fence.None, fence.Seal}
	p := (&shell{err: new(bytes.Buffer)}).newProgress([]matrix.Job{
		{Modes: two, Seeds: search.Seeds{First: 1, Last: 10}, Weight: 90},
		{Modes: two[:1], Seeds: search.Seeds{First: 1, Last: 10}, Weight: 10},
	})
	var got []string
	say := func() { got = append(got, p.line(10*time.Second)) }
	say()
	for range 5 {
		p.step(0)
	}
	say()
	for range 10 {
		p.step(0) // the child died, and the job began anew
	}
	say()
	p.done(0)
	p.step(1)
	p.done(1)
	say()
	want := []string{
		"0 of 30 runs", "10 of 30 runs, 1 runs/s, 12s left", "20 of 30 runs, 2 runs/s, 1s left", "30 of 30 runs, 3 runs/s, 0s left",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Nobody is told of progress where nobody looks, and nobody at once.
func TestProgressIsQuiet(t *testing.T) {
	var screen bytes.Buffer
	p := &progress{w: &screen, began: time.Now()}
	p.show(p.began.Add(patience - 1))
	p.clear()
	if screen.Len() > 0 {
		t.Errorf("%q", screen.String())
	}
	p.show(p.began.Add(patience))
	p.show(p.began.Add(patience + often - 1))
	p.clear()
	if want := "\r\x1b[K0 of 0 runs\r\x1b[K"; screen.String() != want {
		t.Errorf("%q, want %q", screen.String(), want)
	}
}

// A child's runtime is tuned; what the user has set stays.
func TestTuned(t *testing.T) {
	for _, tt := range []struct{ env, want []string }{
		{[]string{"A=1"}, []string{"A=1", "GOGC=400", "GODEBUG=adaptivestackstart=1"}},
		{[]string{"GOGC=off", "GODEBUG=gctrace=1"}, []string{"GOGC=off", "GODEBUG=gctrace=1", "GODEBUG=gctrace=1,adaptivestackstart=1"}},
	} {
		if diff := cmp.Diff(tt.want, tuned(tt.env)); diff != "" {
			t.Error(diff)
		}
	}
}
