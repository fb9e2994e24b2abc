package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/campaign"
	"locksim/scenarios/subject"
)

// program runs the command with mylock as a separate process. will is the value of
// sabotage.
func program(t *testing.T, will string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asChild+"=1", misbehaving+"=1", sabotage+"="+will)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

// exploreMine are the arguments of an exploration of mylock that finds no violation.
func exploreMine(dir string, more ...string) []string {
	return append([]string{"explore", "--lock", "mylock", "--promise", "--runs", "201", "--out", dir, "--quiet"}, more...)
}

// undisturbed is the document of exploreMine without any sabotage.
var undisturbed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "locksim-test-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(os.Args[0], exploreMine(dir)...)
	cmd.Env = append(os.Environ(), asChild+"=1", misbehaving+"=1", sabotage+"="+quiet)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "explore.json"))
	before, _, _ := strings.Cut(string(b), "\n  \"timing\":")
	return before, err
})

// sameAsUndisturbed compares the document in a folder.
func sameAsUndisturbed(t *testing.T, dir string) {
	t.Helper()
	want, err := undisturbed()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, untimed(t, filepath.Join(dir, "explore.json"))); diff != "" {
		t.Error(diff)
	}
}

// When a child is killed, no finished result is lost, and the final document is the
// same.
func TestExploreChildIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs; package campaign has the same test for smaller jobs")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "killed")
	code, _, errs := program(t, "kill:250:"+file, exploreMine(dir)...)
	if code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("no child was killed")
	}
	sameAsUndisturbed(t, dir)
}

// Ctrl-C loses no finished result: --resume continues from the results, and the final
// document is the same.
func TestExploreInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs")
	}
	dir := t.TempDir()
	code, out, errs := program(t, "interrupt:700:", exploreMine(dir, "--workers", "1")...)
	interrupted := regexp.MustCompile(
		`: interrupted, with ([12]) of 3 jobs done, which are in .*: continue with the same command and --resume\n\z`).FindStringSubmatch(errs)
	if code != console.ExitBroken || out != "" || interrupted == nil {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	before := journaled(t, dir)
	if len(before) != int(interrupted[1][0]-'0') {
		t.Errorf("the journal has %d results, and the message says %s", len(before), interrupted[1])
	}
	if code, _, errs := program(t, quiet, exploreMine(dir, "--resume")...); code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	after := journaled(t, dir)
	for i := range before {
		if string(before[i]) != string(after[i]) {
			t.Errorf("job %d was done again", i)
		}
	}
	sameAsUndisturbed(t, dir)
}

// journaled are the results in the journal of a folder.
func journaled(t *testing.T, dir string) map[int][]byte {
	t.Helper()
	name := filepath.Join(dir, "explore.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := campaign.Read(name, data)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][]byte{}
	for i, result := range r.Results {
		all[i] = result
	}
	return all
}

// The document is the same but for its timing with one worker and with three, and, with LOCKSIM_SOAK=1, whether one
// command makes it or several shards: the script explore merges two.
func TestExploreIsStable(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes the same runs six times")
	}
	three, parts, whole := t.TempDir(), t.TempDir(), t.TempDir()
	commands, made := [][]string{exploreMine(three, "--workers", "3")}, []string{three}
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		commands = append(commands, exploreMine(parts, "--shard", "0/3"), exploreMine(parts, "--shard", "2/3"),
			exploreMine(parts, "--shard", "1/3"), []string{"merge", parts, "--out", whole, "--quiet"})
		made = append(made, whole)
	}
	for _, args := range commands {
		if code, _, errs := program(t, quiet, args...); code != console.ExitExpected || errs != "" {
			t.Fatalf("%v: exit code %d\n%s", args, code, errs)
		}
	}
	for _, dir := range made {
		sameAsUndisturbed(t, dir)
	}
}

// The command that a report ends with finds the violation again.
func TestExploreReplayCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	code, out, errs := program(t, quiet, "explore", "--lock", "single", "--faults", "pause")
	_, command, found := strings.Cut(out, "\nreplay: ")
	if code != console.ExitUnexpected || !found {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	_, violation, _ := strings.Cut(out, "\nVIOLATION 1: ")
	code, out, errs = program(t, quiet, strings.Fields(command)[1:]...)
	_, again, _ := strings.Cut(out, "\nVIOLATION 1: ")
	if diff := cmp.Diff(violation, again); code != console.ExitUnexpected || diff != "" {
		t.Errorf("%s: exit code %d\n%s%s", command, code, errs, diff)
	}
}

// A lock that exits each of its processes fails its jobs; the command reports which,
// and that they are no evidence.
func TestExploreFailedJobs(t *testing.T) {
	t.Setenv(asChild, "1")
	t.Setenv(misbehaving, "exit")
	code, out, errs := call(t, []subject.Lock{mylock()}, "explore", "--lock", "mylock", "--runs", "150", "--quiet")
	if code != console.ExitBroken ||
		!strings.Contains(errs, "2 jobs failed; job 0: seeds 1 to 100: the worker process ended during this job") ||
		!strings.Contains(errs, "\nit ended in the runs without faults with which a search begins, or in the run with seed "+
			"1, whose schedule is\n  name: drawn\n") ||
		!regexp.MustCompile(`(?m)^again: \S+ explore --lock mylock --from-seed 1 --runs 1$`).MatchString(errs) ||
		!strings.Contains(out, "INCOMPLETE: 2 jobs of 100 runs have no result.\n") ||
		!strings.Contains(out, "No run tested the lock.") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
