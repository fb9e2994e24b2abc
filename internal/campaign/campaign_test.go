package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"locksim/internal/campaign"
	"locksim/internal/workers"
)

// inChild makes this program a worker.
const inChild = "LOCKSIM_CAMPAIGN_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(inChild) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := workers.Serve(os.Stdin, os.Stdout, do); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// task is a job of these tests, square what becomes of it.
type task struct {
	N int
	// Die is a file without which the process ends in the middle of the job.
	Die string
	// Fail says that the job has no result.
	Fail bool
}

type square struct {
	Job   int `json:"job"`
	Value int `json:"value"`
}

func do(t task, step func()) (square, error) {
	step()
	if t.Fail {
		return square{}, errors.New("no result today")
	}
	if t.Die != "" {
		if _, err := os.Stat(t.Die); err != nil {
			if err := os.WriteFile(t.Die, nil, 0o600); err != nil {
				return square{}, err
			}
			os.Exit(3)
		}
	}
	return square{t.N, t.N * t.N}, nil
}

// plan is the plan of these tests.
type plan struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"`
}

// squares is a campaign; asked records which of its jobs a child was asked for.
func squares(jobs int, asked *[]int) campaign.Campaign[task, square, square] {
	return campaign.Campaign[task, square, square]{
		Kind: "squares", Plan: plan{"squares", jobs}, Jobs: jobs,
		Job: func(i int) task { return task{N: i} },
		Result: func(i int, d workers.Done[task, square]) (square, error) {
			if asked != nil {
				*asked = append(*asked, i)
			}
			return d.Result, d.Err
		},
	}
}

func options(journal string) campaign.Options {
	return campaign.Options{Journal: journal, Workers: workers.Options{Workers: 2, Command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), inChild+"=1")
		return cmd
	}}}
}

// want are the squares of some jobs.
func want(jobs ...int) map[int]square {
	all := map[int]square{}
	for _, i := range jobs {
		all[i] = square{i, i * i}
	}
	return all
}

// Every job has its result, whichever child did it.
func TestRun(t *testing.T) {
	steps, done := 0, map[int]square{}
	c := squares(7, nil)
	c.Step = func(int) { steps++ }
	c.Done = func(i int, s square) { done[i] = s }
	results, err := c.Run(t.Context(), options(""))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(0, 1, 2, 3, 4, 5, 6), results.Finished); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(results.Finished, done); diff != "" || steps != 7 {
		t.Errorf("%d steps\n%s", steps, diff)
	}
	if job, err := results.FirstFailed(); err != nil {
		t.Errorf("job %d failed: %v", job, err)
	}
}

// Shards do their own jobs only, and together all of them.
func TestShards(t *testing.T) {
	together := map[int]square{}
	for i := range 3 {
		opt := options("")
		opt.Shard = campaign.Shard{Index: i, Count: 3}
		results, err := squares(8, nil).Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		for job, s := range results.Finished {
			if _, twice := together[job]; twice || job%3 != i {
				t.Errorf("shard %d did job %d", i, job)
			}
			together[job] = s
		}
	}
	if diff := cmp.Diff(want(0, 1, 2, 3, 4, 5, 6, 7), together); diff != "" {
		t.Error(diff)
	}
}

// A result that ends the campaign lets no later job begin, but for two: the one
// that was waiting for the child, and the one that was taken from the list for it
// before anybody had looked at the result. All earlier ones come to their end.
func TestEnds(t *testing.T) {
	for _, children := range []int{1, 2} {
		c := squares(1000, nil)
		c.Ends = func(s square) bool { return s.Job == 10 }
		opt := options("")
		opt.Workers.Workers = children
		results, err := c.Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 11 {
			if _, ok := results.Finished[i]; !ok {
				t.Errorf("%d children: job %d was left out", children, i)
			}
		}
		if n := len(results.Finished); children == 1 && n > 13 {
			t.Errorf("one child did %d jobs", n)
		}
	}
}

// A child that dies costs no result: its job is done by another.
func TestChildDies(t *testing.T) {
	c := squares(6, nil)
	file := filepath.Join(t.TempDir(), "died")
	c.Job = func(i int) task {
		if i == 3 {
			return task{N: i, Die: file}
		}
		return task{N: i}
	}
	results, err := c.Run(t.Context(), options(""))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(0, 1, 2, 3, 4, 5), results.Finished); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("no child has died")
	}
}

// A job that fails has no result, is not in the journal, and is done again when
// the campaign goes on.
func TestFailedJobIsTriedAgain(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	c := squares(5, nil)
	c.Job = func(i int) task { return task{N: i, Fail: i == 1 || i == 4} }
	results, err := c.Run(t.Context(), options(journal))
	if err != nil {
		t.Fatal(err)
	}
	if job, err := results.FirstFailed(); job != 1 || err == nil || err.Error() != "no result today" {
		t.Errorf("job %d failed: %v", job, err)
	}
	if diff := cmp.Diff(want(0, 2, 3), results.Finished); diff != "" {
		t.Error(diff)
	}
	var asked []int
	results = resumed(t, squares(5, &asked), journal)
	if diff := cmp.Diff(want(0, 1, 2, 3, 4), results.Finished); diff != "" || len(asked) != 2 {
		t.Errorf("asked for %v\n%s", asked, diff)
	}
}

func resumed(t *testing.T, c campaign.Campaign[task, square, square], journal string) *campaign.Results[square] {
	t.Helper()
	opt := options(journal)
	opt.Resume = true
	results, err := c.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// However a run ends, what was finished by then is in the journal, and not done
// again.
func TestInterrupted(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, finished := squares(50, nil), 0
	c.Done = func(int, square) {
		if finished++; finished == 5 {
			cancel()
		}
	}
	before, err := c.Run(ctx, options(journal))
	if !errors.Is(err, context.Canceled) || len(before.Finished) < 5 || len(before.Finished) == 50 {
		t.Fatalf("%d jobs, error %v", len(before.Finished), err)
	}
	var asked []int
	after := resumed(t, squares(50, &asked), journal)
	if len(after.Finished) != 50 || len(asked) != 50-len(before.Finished) {
		t.Errorf("%d jobs finished, %d of them now, and %d before", len(after.Finished), len(asked), len(before.Finished))
	}
	for _, job := range asked {
		if _, twice := before.Finished[job]; twice {
			t.Errorf("job %d was done again", job)
		}
	}
}

// A journal that was cut off anywhere loses no more than the result that was cut,
// and what is appended to it can be read.
func TestJournalCutOff(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "journal")
	if _, err := squares(3, nil).Run(t.Context(), options(whole)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, 20, strings.Index(string(data), "\n"), strings.Index(string(data), "\n") + 1, len(data) - 2, len(data) - 1} {
		journal := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(journal, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		var asked []int
		results := resumed(t, squares(3, &asked), journal)
		lost := 3 - max(strings.Count(string(data[:cut]), "\n")-1, 0)
		if diff := cmp.Diff(want(0, 1, 2), results.Finished); diff != "" || len(asked) != lost {
			t.Errorf("cut at %d: %d jobs done again, and %d were lost\n%s", cut, len(asked), lost, diff)
		}
		if results = resumed(t, squares(3, nil), journal); len(results.Finished) != 3 {
			t.Errorf("cut at %d: after that the journal has %d results", cut, len(results.Finished))
		}
	}
}

// Mistakes with journals are found before anything is run, and nothing in them
// is lost.
func TestJournalErrors(t *testing.T) {
	header := `{"version":1,"kind":"squares","plan":{"name":"squares","jobs":3}}` + "\n"
	for _, c := range []struct {
		name, text, want string
		fresh            bool
	}{
		{"not asked to go on", header, "there are results of an earlier run", true},
		{"another plan", `{"version":1,"kind":"squares","plan":{"name":"squares","jobs":4,"more":[1]}}` + "\n", "jobs is 4, not 3; more is [1], not missing", false},
		{"another kind", `{"version":1,"kind":"cubes","plan":{"name":"squares","jobs":3}}` + "\n", `kind is "cubes", not "squares"`, false},
		{"another version", `{"version":2,"kind":"squares","plan":{}}` + "\n", "has no results of version 1", false},
		{"no journal", "Dear diary,\n", "is neither a journal nor a document of results", false},
		{"a broken line", header + "{\"job\":1\n" + `{"job":2,"result":{}}` + "\n", "journal:2: this line is no result", false},
		{"a contradiction", header + `{"job":1,"result":{"job":1}}` + "\n" + `{"job":1,"result":{"job":2}}` + "\n", "contradict each other about job 1", false},
		{"no such job", header + `{"job":3,"result":{"job":3}}` + "\n", "the result of job 3 cannot be used: there are 3 jobs", false},
		{"no square", header + `{"job":1,"result":"nine"}` + "\n", "the result of job 1 cannot be used", false},
		{"a negative job", header + `{"job":-1,"result":{}}` + "\n", "there is no job -1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(journal, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			opt := options(journal)
			opt.Resume = !c.fresh
			var asked []int
			_, err := squares(3, &asked).Run(t.Context(), opt)
			if _, ok := errors.AsType[*campaign.JournalError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if after, err := os.ReadFile(journal); err != nil || string(after) != c.text || len(asked) > 0 {
				t.Errorf("jobs %v were done, and the journal is\n%s", asked, after)
			}
		})
	}
}

// A journal that cannot be written ends the campaign: going on would lose what
// is found.
func TestJournalCannotBeWritten(t *testing.T) {
	_, err := squares(3, nil).Run(t.Context(), options(filepath.Join(t.TempDir(), "missing", "journal")))
	if _, ok := errors.AsType[*campaign.JournalError](err); !ok || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
