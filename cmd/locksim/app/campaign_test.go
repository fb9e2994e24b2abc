package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/campaign"
	"locksim/internal/testruns"
)

// published are the files of a folder, without the timing of documents.
func published(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := tree(t, dir)
	for name, text := range files {
		if strings.HasSuffix(name, ".json") {
			files[name], _, _ = strings.Cut(text, "\n  \"timing\":")
		}
	}
	return files
}

// A matrix and a review that are killed or interrupted when about a third is done have,
// after --resume, the same bytes as those that are not: the document, the reports and all
// pages. Two merged shards have the same bytes too.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs")
	}
	for _, tt := range []struct {
		kind string
		args []string
		// clients is the number of clients made when about a third of the runs is done.
		clients string
		pages   []string
	}{
		{"matrix", []string{"matrix", "--scenario", "c*,g*,late-*", "--lock", "mylock", "--seeds", "1", "--fencing", "none"},
			"15",
			[]string{"index.html", "matrix.json", "MATRIX.md", "runs/calm/mylock/seed-1.html"}},
		{"review", []string{"report", "--review", "--lock", "mylock", "--seeds", "1", "--runs", "20"}, "300",
			[]string{"review.html", "review.md", "review.json", "review.txt"}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			if tt.kind == "review" { // the script review resumes one too
				testruns.OnlyWhole(t)
			}
			t.Parallel()
			with := func(dir string, more ...string) []string {
				return append(append(append([]string{}, tt.args...), "--quiet", "--out", dir), more...)
			}
			whole := t.TempDir()
			want, _, errs := program(t, quiet, with(whole)...)
			files := published(t, whole)
			for _, name := range tt.pages {
				if files[name] == "" {
					t.Fatalf("exit code %d, and %s does not exist\n%s", want, name, errs)
				}
			}
			for _, end := range []string{"kill-parent", "interrupt"} {
				dir := t.TempDir()
				code, out, errs := program(t, end+":"+tt.clients+":", with(dir, "--workers", "1")...)
				done, all := jobsDone(t, filepath.Join(dir, tt.kind+".jsonl"))
				t.Logf("%s: %d of %d jobs are done", end, done, all)
				if code == want || out != "" || done == 0 || done > all/2 {
					t.Fatalf("%s: exit code %d, %d of %d jobs are done\n%s%s", end, code, done, all, out, errs)
				}
				if code, _, errs := program(t, quiet, with(dir, "--resume")...); code != want || errs != "" {
					t.Errorf("%s: the exit code is %d, not %d\n%s", end, code, want, errs)
				}
				if diff := cmp.Diff(files, published(t, dir)); diff != "" {
					t.Errorf("%s: %s", end, diff)
				}
			}
			if os.Getenv("LOCKSIM_SOAK") != "1" { // the scripts shards and review merge two
				return
			}
			parts, merged := t.TempDir(), t.TempDir()
			for _, args := range [][]string{with(parts, "--shard", "1/2"), with(parts, "--shard", "0/2")} {
				if code, _, errs := program(t, quiet, args...); code != console.ExitExpected || errs != "" {
					t.Errorf("%v: exit code %d\n%s", args, code, errs)
				}
			}
			if code, _, errs := program(t, quiet, "merge", parts, "--out", merged, "--quiet"); code != want || errs != "" {
				t.Errorf("merge: the exit code is %d, not %d\n%s", code, want, errs)
			}
			if diff := cmp.Diff(files, published(t, merged)); diff != "" {
				t.Errorf("merge: %s", diff)
			}
		})
	}
}

// jobsDone are the number of jobs of a journal that are done, and the number of all.
func jobsDone(t *testing.T, journal string) (done, all int) {
	t.Helper()
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	r, err := campaign.Read(journal, data)
	if err != nil {
		t.Fatal(err)
	}
	return r.Done(), r.Jobs
}

// A pair of a matrix that kills each of its workers is a failure of the matrix, also of
// one merged from shards; the journal remains, and --resume tries the pair again.
func TestFailedPairInShards(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, and much longer under the race detector")
	}
	parts, merged := t.TempDir(), t.TempDir()
	args := []string{"matrix", "--scenario", "calm,gc-pause", "--lock", "mylock,single", "--seeds", "1", "--fencing",
		"none", "--quiet", "--out", parts}
	always := filepath.Join(t.TempDir(), "clients")
	// the jobs of single
	if code, _, errs := program(t, quiet, append(args, "--shard", "0/2")...); code != console.ExitExpected {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	code, out, errs := program(t, "late-kill:0:"+always, append(args, "--shard", "1/2")...)
	if code != console.ExitBroken || out != "" || !strings.Contains(errs, "2 jobs failed; job 1: ") ||
		!strings.Contains(errs, " with mylock, seed 1: the worker process ended during this job") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = program(t, quiet, "merge", parts, "--out", merged, "--quiet")
	if code != console.ExitBroken ||
		!strings.Contains(errs, "the runs of 2 pairs of scenario and lock failed; the first: ") ||
		!strings.Contains(out, "\ncalm      .       FAILED\n") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for _, shard := range []string{"0/2", "1/2"} {
		if code, _, errs := program(t, quiet, append(args, "--shard", shard, "--resume")...); code != console.ExitExpected ||
			errs != "" {
			t.Errorf("exit code %d\n%s", code, errs)
		}
	}
	if code, out, errs = program(t, quiet, "merge", parts, "--out", merged, "--quiet"); code != console.ExitExpected ||
		strings.Contains(out, "FAILED") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
