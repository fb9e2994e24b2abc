package search_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// guided are the runs of some seeds by the strategy that looks back, a line each: the schedule, the seed with which it
// was played, how many events it had, its label and how near it came. varied is how many are variations of another run.
func guided(t *testing.T, l subject.Lock, space spaces.Space, seeds outcome.Seeds) (lines []string, varied int) {
	t.Helper()
	for trial := range search.PlayEach(l, search.Drawn(l, space, seeds)) {
		if trial.Err != nil {
			t.Fatal(trial.Err)
		}
		if trial.Run != 0 {
			varied++
		}
		schedule := sha256.Sum256([]byte(testruns.Format(t, trial.Scenario)))
		m := trial.Outcome.Modes[0]
		lines = append(lines, fmt.Sprintf("seed %d played with %d: schedule %s, %d events, %s, %+v", trial.Seed,
			trial.Played(),
			hex.EncodeToString(schedule[:8]), m.Events, m.Verdict.Label, m.Verdict.Slack))
	}
	return lines, varied
}

// A search that looks back depends on its seeds alone: it is the same in fresh processes at other numbers of processors
// and with another garbage collection, and so is each of its runs when a search begins with it.
func TestGuidedSearchRepeats(t *testing.T) {
	const child = "LOCKSIM_GUIDED"
	l := testruns.Kind(t, "single")
	space := discovered(t, l, spaces.Space{Faults: []lock.Fault{lock.FaultPause, lock.FaultLatency}})
	seeds := outcome.Seeds{First: 246, Last: 246 + uint64(testruns.Soak(t, 400, 0.1)) - 1}
	lines, varied := guided(t, l, space, seeds)
	if os.Getenv(child) != "" {
		for _, line := range lines {
			fmt.Println(line)
		}
		return
	}
	if varied == 0 {
		t.Error("no run is a variation of another one: nothing was tested")
	}
	t.Logf("%d of %d runs are variations", varied, len(lines))
	want := ""
	for _, line := range lines {
		want += line + "\n"
	}
	for _, env := range [][]string{{"GOMAXPROCS=1", "GOGC=20"}, {"GOMAXPROCS=4", "GOGC=off"}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGuidedSearchRepeats$")
		cmd.Env = append(append(os.Environ(), child+"=1"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", env, err, out)
		}
		if d := cmp.Diff(want, string(out[:min(len(out), len(want))])); d != "" {
			t.Errorf("%v (-here +there):\n%s", env, d)
		}
	}
	for i, line := range lines {
		seed := seeds.First + uint64(i)
		if alone, _ := guided(t, l, space, outcome.Seeds{First: seed, Last: seed}); alone[0] != line {
			t.Errorf("alone: %s\nin a row: %s", alone[0], line)
		}
	}
}
