package campaign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"locksim/internal/campaign"
	"locksim/internal/workers"
)

// inChild is the environment variable that makes the test program a worker.
const inChild = "LOCKSIM_CAMPAIGN_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(inChild) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := campaign.Serve(os.Stdin, os.Stdout, squareTask.Handler(do), rootTask.Handler(root)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The tasks of these tests: the square of a number, and the root of a square.
const (
	squareTask = campaign.Task[number, square]("square")
	rootTask   = campaign.Task[square, int]("root")
)

type number struct {
	N int
	// Exit is a file. If it does not exist, the process creates it and exits during the
	// job.
	Exit string
	// Fail makes the job fail.
	Fail bool
}

type square struct {
	Job   int `json:"job"`
	Value int `json:"value"`
}

func do(n number, step func()) (square, error) {
	step()
	step()
	if n.Fail {
		return square{}, errors.New("no result, by request")
	}
	if n.Exit != "" {
		if _, err := os.Stat(n.Exit); err != nil {
			if err := os.WriteFile(n.Exit, nil, 0o600); err != nil {
				return square{}, err
			}
			os.Exit(3)
		}
	}
	return square{n.N, n.N * n.N}, nil
}

func root(s square, _ func()) (int, error) {
	if s.Job == 4 {
		return 0, errors.New("no root of 16, by request")
	}
	return s.Job, nil
}

// plan is the plan of these tests.
type plan struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"`
}

// squares is a campaign; it appends the jobs with a result to made.
func squares(jobs int, made *[]int) campaign.Campaign {
	return campaign.Campaign{
		Kind: "squares", Plan: plan{"squares", jobs}, Jobs: jobs,
		Job: func(i int) campaign.Job { return squareJob(number{N: i}) },
		Take: func(i int, result json.RawMessage) (bool, error) {
			s, err := squareTask.Read(result)
			if err == nil && s.Job != i {
				err = fmt.Errorf("it is that of job %d", s.Job)
			}
			if made != nil && err == nil {
				*made = append(*made, i)
			}
			return false, err
		},
	}
}

func squareJob(n number) campaign.Job {
	job := squareTask.Job(n)
	job.Name, job.Noun, job.Count, job.Steps = fmt.Sprintf("number %d", n.N), "numbers", 4, 2
	return job
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

// has checks the results of a record.
func has(t *testing.T, r *campaign.Record, want map[int]square) {
	t.Helper()
	got, err := squareTask.Results(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every job has its result, whichever child executed it.
func TestRun(t *testing.T) {
	var made []int
	c := squares(7, &made)
	r, err := c.Run(t.Context(), options(""))
	if err != nil {
		t.Fatal(err)
	}
	has(t, r, want(0, 1, 2, 3, 4, 5, 6))
	if len(made) != 7 || r.Done() != 7 || r.All != 7 || r.Made != 28 || len(r.Took) != 7 {
		t.Errorf("%d results were taken; %+v", len(made), r)
	}
	if n, err := c.FirstFailed(r); n != 0 || err != nil {
		t.Errorf("%d failed: %v", n, err)
	}
}

// A shard executes its own jobs only, and all shards together execute all jobs.
func TestShards(t *testing.T) {
	var records []*campaign.Record
	for i := range 3 {
		opt := options("")
		opt.Shard = campaign.Shard{Index: i, Count: 3}
		r, err := squares(8, nil).Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		for job := range r.Results {
			if job%3 != i {
				t.Errorf("shard %d did job %d", i, job)
			}
		}
		records = append(records, r)
	}
	all, err := campaign.Union(records...)
	if err != nil {
		t.Fatal(err)
	}
	has(t, all, want(0, 1, 2, 3, 4, 5, 6, 7))
}

// After a result with last, no later job starts, except for two: the one that was waiting
// for the child, and the one that was taken from the list before Take saw the result. All
// earlier jobs end.
func TestLast(t *testing.T) {
	for _, children := range []int{1, 2} {
		c := squares(1000, nil)
		c.Take = func(i int, _ json.RawMessage) (bool, error) { return i == 10, nil }
		opt := options("")
		opt.Workers.Workers = children
		r, err := c.Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 11 {
			if _, ok := r.Results[i]; !ok {
				t.Errorf("%d children: job %d was left out", children, i)
			}
		}
		if n := len(r.Results); children == 1 && n > 13 {
			t.Errorf("one child did %d jobs", n)
		}
	}
}

// A result that cannot be used ends the campaign, and is not written to the journal.
func TestTakeRefuses(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	c, refusal := squares(5, nil), errors.New("nine is refused")
	c.Take = func(i int, _ json.RawMessage) (bool, error) {
		if i == 3 {
			return false, refusal
		}
		return false, nil
	}
	r, err := c.Run(t.Context(), options(journal))
	if !errors.Is(err, refusal) || r.Results[3] != nil {
		t.Errorf("%v, job 3 has the result %s", err, r.Results[3])
	}
	if r = resumed(t, squares(5, nil), journal); len(r.Results) != 5 || r.Took[3] == 0 {
		t.Errorf("%+v", r)
	}
}

// When a child exits, no result is lost: another child executes its job.
func TestChildExits(t *testing.T) {
	c := squares(6, nil)
	file := filepath.Join(t.TempDir(), "exited")
	c.Job = func(i int) campaign.Job {
		if i == 3 {
			return squareJob(number{N: i, Exit: file})
		}
		return squareJob(number{N: i})
	}
	var last campaign.Progress
	opt := options("")
	opt.Watch = func(p campaign.Progress) { last = p }
	r, err := c.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	has(t, r, want(0, 1, 2, 3, 4, 5))
	if _, err := os.Stat(file); err != nil {
		t.Error("no child has exited")
	}
	if last.Done != 24 || last.All != 24 || last.Made != 24 || last.WeightLeft != 0 { // its steps do not count twice
		t.Errorf("%+v", last)
	}
}

// A failed job has no result, and is executed again when the campaign is resumed. The
// journal has its error.
func TestFailedJobIsTriedAgain(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	c := squares(5, nil)
	c.Job = func(i int) campaign.Job { return squareJob(number{N: i, Fail: i == 1 || i == 4}) }
	r, err := c.Run(t.Context(), options(journal))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.FirstFailed(r); n != 2 || err == nil || err.Error() != "job 1: number 1: no result, by request" {
		t.Errorf("%d failed: %v", n, err)
	}
	has(t, r, want(0, 2, 3))
	if r = readFile(t, journal); len(r.Failed) != 2 || r.Failed[4].Error() != "no result, by request" ||
		len(r.Results) != 3 {
		t.Errorf("the journal has %+v", r)
	}
	if r = resumed(t, squares(5, nil), journal); len(r.Took) != 2 || len(r.Failed) != 0 {
		t.Errorf("the jobs %v were executed, and %v failed", r.Took, r.Failed)
	}
	has(t, r, want(0, 1, 2, 3, 4))
	if r = readFile(t, journal); len(r.Failed) != 0 || len(r.Results) != 5 {
		t.Errorf("the journal has %+v", r)
	}
}

func readFile(t *testing.T, journal string) *campaign.Record {
	t.Helper()
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, journal, string(data))
}

func resumed(t *testing.T, c campaign.Campaign, journal string) *campaign.Record {
	t.Helper()
	opt := options(journal)
	opt.Resume = true
	r, err := c.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// After an interruption the journal has all finished results, and they are not made
// again.
func TestInterrupted(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, finished := squares(50, nil), 0
	c.Take = func(int, json.RawMessage) (bool, error) {
		if finished++; finished == 5 {
			cancel()
		}
		return false, nil
	}
	before, err := c.Run(ctx, options(journal))
	if !errors.Is(err, context.Canceled) || before.Done() < 5 || before.Done() == 50 || before.All != 50 {
		t.Fatalf("%d of %d jobs, error %v", before.Done(), before.All, err)
	}
	after := resumed(t, squares(50, nil), journal)
	if len(after.Results) != 50 || len(after.Took) != 50-before.Done() {
		t.Errorf("%d jobs finished, %d of them now, and %d before", len(after.Results), len(after.Took), before.Done())
	}
	for job := range after.Took {
		if _, twice := before.Results[job]; twice {
			t.Errorf("job %d was done again", job)
		}
	}
}

// A journal that is truncated at any offset loses only the truncated result, and lines
// appended to it can be read.
func TestTruncatedJournal(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "journal")
	if _, err := squares(3, nil).Run(t.Context(), options(whole)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, 20, strings.Index(string(data), "\n"), strings.Index(string(data), "\n") + 1,
		len(data) - 2, len(data) - 1} {
		journal := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(journal, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r := resumed(t, squares(3, nil), journal)
		lost := 3 - max(strings.Count(string(data[:cut]), "\n")-1, 0)
		has(t, r, want(0, 1, 2))
		if len(r.Took) != lost {
			t.Errorf("cut at %d: %d jobs were executed again, and %d results were lost", cut, len(r.Took), lost)
		}
		if r = resumed(t, squares(3, nil), journal); len(r.Results) != 3 || len(r.Took) != 0 {
			t.Errorf("cut at %d: after that the journal has %d results", cut, len(r.Results))
		}
	}
}

// rooted is a campaign in which the roots of even squares follow from the results, and
// then a job with the sum of these roots.
func rooted(jobs int) campaign.Campaign {
	c := squares(jobs, nil)
	c.Follow = func(r *campaign.Record) ([]campaign.Job, error) {
		all, err := squareTask.Results(r)
		var out []campaign.Job
		sum := 0
		for i := 0; i < jobs; i += 2 {
			job := rootTask.Job(all[i])
			job.Name, job.Count, job.Noun = fmt.Sprintf("root of %d", all[i].Value), 1, "roots"
			out = append(out, job)
			if root, ok, err := rootTask.Answer(r, all[i]); ok && err == nil {
				sum += root
			}
		}
		if r.Done() >= jobs+len(out) {
			out = append(out, rootTask.Job(square{Job: 1000 + sum}))
		}
		return out, err
	}
	return c
}

// Jobs that follow from results are executed after the others, wave by wave, and their
// answers are in the journal: a resumed campaign executes only those that it lacks.
func TestFollow(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	r, err := rooted(4).Run(t.Context(), options(journal))
	if err != nil || r.Done() != 7 || r.All != 7 {
		t.Fatalf("%v: %d of %d jobs", err, r.Done(), r.All)
	}
	if sum, ok, err := rootTask.Answer(r, square{Job: 1002}); sum != 1002 || !ok || err != nil {
		t.Errorf("%d, %v, %v", sum, ok, err)
	}
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	if err := os.WriteFile(journal, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked int
	opt := options(journal)
	opt.Resume, opt.Watch = true, func(p campaign.Progress) { asked = max(asked, p.Made) }
	again, err := rooted(4).Run(t.Context(), opt)
	if diff := cmp.Diff(r.Answers, again.Answers); err != nil || diff != "" || asked > 1 {
		t.Errorf("%v, %d jobs were executed again: %s", err, asked, diff)
	}
}

// FollowUp executes the jobs that follow from the results of a record, without a journal.
func TestFollowUp(t *testing.T) {
	r, err := squares(4, nil).Run(t.Context(), options(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := rooted(4).FollowUp(t.Context(), options(""), r); err != nil || r.Done() != 7 {
		t.Errorf("%v: %d jobs", err, r.Done())
	}
	r.Results[4] = json.RawMessage("{}")
	err = rooted(4).FollowUp(t.Context(), options(""), r)
	if _, ok := errors.AsType[*campaign.JournalError](err); !ok ||
		err.Error() != "the result of job 4 cannot be used: there are 4 jobs" {
		t.Error(err)
	}
}

// A failed job that followed from results is not tried again in the same run, and the
// others are executed.
func TestFollowFails(t *testing.T) {
	c := rooted(6)
	r, err := c.Run(t.Context(), options(""))
	if n, failed := c.FirstFailed(r); err != nil || n != 1 || failed == nil ||
		failed.Error() != "root of 16: no root of 16, by request" {
		t.Errorf("%v; %d failed: %v", err, n, failed)
	}
	if r.Done() != 8 {
		t.Errorf("%d jobs", r.Done())
	}
}

// A campaign joined from several has the jobs of all, and the record of each part has its
// own results, with its own numbers.
func TestJoin(t *testing.T) {
	first, none, second := rooted(4), squares(0, nil), squares(3, nil)
	second.Job = func(i int) campaign.Job { return squareJob(number{N: i, Fail: i == 2}) }
	c, part := campaign.Join("both", plan{"both", 7}, first, none, second)
	r, err := c.Run(t.Context(), options(""))
	if err != nil || c.Jobs != 7 {
		t.Fatalf("%d jobs, %v", c.Jobs, err)
	}
	has(t, part(r, 0), want(0, 1, 2, 3))
	has(t, part(r, 1), want())
	has(t, part(r, 2), want(0, 1))
	if failed := part(r, 2).Failed; len(failed) != 1 || failed[2] == nil || len(part(r, 0).Failed) != 0 {
		t.Errorf("failed are %v", failed)
	}
	if _, ok, err := rootTask.Answer(r, square{2, 4}); !ok || err != nil {
		t.Errorf("the record lacks the answers of the first part: %v", err)
	}
	if _, err := c.FirstFailed(r); err == nil || err.Error() != "job 6: number 2: no result, by request" {
		t.Error(err)
	}
}

// The text has the counts, the rate and the time left, which depends on the weight of the
// work that this process has done.
func TestProgress(t *testing.T) {
	for want, p := range map[string]campaign.Progress{
		"0 of 30 runs": {Noun: "runs", All: 30, WeightLeft: 100},
		// by others
		"10 of 30 runs": {Noun: "runs", All: 30, Done: 10, WeightLeft: 10, Spent: time.Second},
		"10 of 30 runs, 1/s, 12s left": {Noun: "runs", All: 30, Done: 10, Made: 10, WeightDone: 45, WeightLeft: 55,
			Spent: 10 * time.Second},
		"30 of 30 runs, 3/s, 0s left": {Noun: "runs", All: 30, Done: 30, Made: 30, WeightDone: 100,
			Spent: 10 * time.Second},
		"1 of 3 reports written, 1m0s left": {Noun: "reports written", All: 3, Done: 1, Made: 1, WeightDone: 1, WeightLeft: 2,
			Spent: 30 * time.Second},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Do executes jobs without a campaign, and reports the error of one that fails.
func TestDo(t *testing.T) {
	got := map[int]string{}
	jobs := []campaign.Job{squareJob(number{N: 3}), squareJob(number{N: 4, Fail: true})}
	err := campaign.Do(t.Context(), options("").Workers, nil, jobs, func(id int, answer json.RawMessage, err error) error {
		got[id] = fmt.Sprint(string(answer), err)
		return nil
	})
	if diff := cmp.Diff(map[int]string{0: `{"job":3,"value":9}<nil>`, 1: "no result, by request"}, got); err != nil ||
		diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	full := errors.New("the disk is full")
	if err := campaign.Do(t.Context(), options("").Workers, nil, jobs,
		func(int, json.RawMessage, error) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
}

// An error of done is returned also when it comes after all children have exited.
func TestDoRefusesTheLast(t *testing.T) {
	before, full := runtime.NumGoroutine(), errors.New("the disk is full")
	err := campaign.Do(t.Context(), options("").Workers, nil, []campaign.Job{squareJob(number{N: 3})},
		func(int, json.RawMessage, error) error {
			for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			return full
		})
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

// An error in a journal is found before any job is executed, and the journal does not
// change.
func TestJournalErrors(t *testing.T) {
	header := `{"version":1,"kind":"squares","jobs":3,"plan":{"name":"squares","jobs":3}}` + "\n"
	for _, c := range []struct {
		name, text, want string
		fresh            bool
	}{
		{"without Resume", header, "there are results of an earlier run", true},
		{"another plan", `{"version":1,"kind":"squares","jobs":3,"plan":{"name":"squares","jobs":4,"more":[1]}}` + "\n",
			"jobs is 4, not 3; more is [1], not missing", false},
		{"another kind", `{"version":1,"kind":"cubes","jobs":3,"plan":{"name":"squares","jobs":3}}` + "\n",
			`kind is "cubes", not "squares"`, false},
		{"another version", `{"version":2,"kind":"squares","plan":{}}` + "\n", "has no results of version 1", false},
		{"no jobs", `{"version":1,"kind":"squares","plan":{"name":"squares","jobs":3}}` + "\n", "has no results of version 1",
			false},
		{"no journal", "Dear diary,\n", "is neither a journal nor a document of results", false},
		{"a broken line", header + "{\"job\":1\n" + `{"job":2,"result":{}}` + "\n", "journal:2: this line is not a result",
			false},
		{"a contradiction", header + `{"job":1,"result":{"job":1}}` + "\n" + `{"job":1,"result":{"job":2}}` + "\n",
			"contradict each other about job 1", false},
		{"no such job", header + `{"job":3,"result":{"job":3}}` + "\n", "the result of job 3 cannot be used: there are " +
			"3 jobs", false},
		{"no square", header + `{"job":1,"result":"nine"}` + "\n", "the result of job 1 cannot be used", false},
		{"another's result", header + `{"job":1,"result":{"job":2,"value":4}}` + "\n", "the result of job 1 cannot be " +
			"used: it is that of job 2", false},
		{"another task's", header + `{"job":1,"result":{"job":1,"cube":1}}` + "\n", "the result of job 1 cannot be used: " +
			"this is no result of task square", false},
		{"no job", header + `{"result":{"job":1}}` + "\n" + `{"job":1,"result":{}}` + "\n",
			"journal:2: this line is not a result", false},
		{"no result", header + `{"job":1}` + "\n" + `{"job":1,"result":{}}` + "\n", "journal:2: this line is not a result",
			false},
		{"two answers", header + `{"follow":"x","result":1}` + "\n" + `{"follow":"x","result":2}` + "\n",
			"contradict each other about what follows from the results", false},
		{"a negative job", header + `{"job":-1,"result":{}}` + "\n", "there is no job -1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			journal := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(journal, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			opt := options(journal)
			opt.Resume = !c.fresh
			r, err := squares(3, nil).Run(t.Context(), opt)
			if _, ok := errors.AsType[*campaign.JournalError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if after, err := os.ReadFile(journal); err != nil || string(after) != c.text || len(r.Took) > 0 {
				t.Errorf("the jobs %v were executed, and the journal is\n%s", r.Took, after)
			}
		})
	}
}

// A journal that cannot be written ends the campaign: to continue would lose results.
func TestJournalCannotBeWritten(t *testing.T) {
	_, err := squares(3, nil).Run(t.Context(), options(filepath.Join(t.TempDir(), "missing", "journal")))
	if _, ok := errors.AsType[*campaign.JournalError](err); !ok || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
