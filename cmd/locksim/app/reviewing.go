package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/play"
	"locksim/scenarios/review"
	"locksim/scenarios/spaces"
)

// reviewing is the review of a lock. It consists of other campaigns, whose jobs it
// joins into one campaign. Each of them is nil where that part is not made.
type reviewing struct {
	*console.Console
	lock   play.Lock
	plan   *review.Work
	matrix *matrixWork
	within *exploration
	all    *exploration
	sweep  *sweeping

	whole campaign.Campaign
	// part is the record of one of them, taken from the record of the review.
	part func(r *campaign.Record, of work) *campaign.Record
}

func newReview(c *console.Console, l play.Lock, plan *review.Work) *reviewing {
	x := &reviewing{Console: c, lock: l, plan: plan}
	var parts []work
	if plan.Matrix != nil {
		x.matrix = &matrixWork{Console: c.Public(), plan: plan.Matrix}
		parts = append(parts, x.matrix)
	}
	if plan.Within != nil {
		x.within = &exploration{Console: c.Public(), plan: plan.Within}
		parts = append(parts, x.within)
	}
	x.all = &exploration{Console: c.Public(), plan: plan.All}
	parts = append(parts, x.all)
	if plan.Sweep != nil {
		x.sweep = &sweeping{Console: c.Public(), plan: plan.Sweep, scenario: plan.Swept}
		parts = append(parts, x.sweep)
	}
	var campaigns []campaign.Campaign
	for _, p := range parts {
		campaigns = append(campaigns, p.campaign())
	}
	var part func(*campaign.Record, int) *campaign.Record
	x.whole, part = campaign.Join(review.Kind, plan, campaigns...)
	x.part = func(r *campaign.Record, of work) *campaign.Record { return part(r, slices.Index(parts, of)) }
	job := x.whole.Job
	x.whole.Job = func(i int) campaign.Job {
		j := job(i)
		j.Noun, j.Weight = "runs", j.Count // the weights of different parts have different units
		return j
	}
	examinations := x.whole.Follow
	x.whole.Follow = func(r *campaign.Record) ([]campaign.Job, error) { return x.follow(r, examinations) }
	return x
}

func readReview(c *console.Console, extra []play.Lock, r *campaign.Record) (*reviewing, error) {
	plan, err := review.ReadWork(r.Plan, extra)
	if err != nil {
		return nil, err
	}
	l, err := play.FindLock(plan.Lock, extra)
	if err != nil {
		return nil, err
	}
	return newReview(c, l, plan), nil
}

func (x *reviewing) campaign() campaign.Campaign { return x.whole }

func (x *reviewing) detail() string { return "" }

func (x *reviewing) divisible() bool { return false }

// follow are the jobs that follow from results: first those of the parts, then the run
// of each failure in each fencing mode. A shard has none, since none of its parts is
// complete.
func (x *reviewing) follow(r *campaign.Record, examinations func(*campaign.Record) ([]campaign.Job, error)) ([]campaign.Job, error) {
	if x.missing(r) > 0 {
		return nil, nil
	}
	jobs, err := examinations(r)
	if err != nil {
		return nil, err
	}
	parts, ok, err := x.parts(r)
	if !ok || err != nil {
		return jobs, err
	}
	jobs = nil
	for _, f := range x.failures(parts) {
		job := fencesTask.Job(review.FenceJob{Run: f.Run})
		job.Name, job.Noun, job.Count = "run in each fencing mode: "+f.Shape, "failures run in each fencing mode", 1
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// missing counts the jobs without a result that the review needs. It does not need the
// pairs of the matrix that failed: the review reports them.
func (x *reviewing) missing(r *campaign.Record) int {
	n := x.whole.Jobs - len(r.Results)
	if x.matrix != nil {
		n -= len(x.part(r, x.matrix).Failed)
	}
	return n
}

// parts are the measurements. ok is false where a violation has not been examined.
func (x *reviewing) parts(r *campaign.Record) (parts review.Parts, ok bool, err error) {
	parts = review.Parts{Missing: x.plan.Missing}
	ok = true
	var errs [4]error
	if x.matrix != nil {
		parts.Matrix, errs[0] = x.matrix.assembled(x.part(r, x.matrix))
	}
	if x.within != nil {
		parts.Within, errs[1] = x.within.assembled(x.part(r, x.within))
	}
	parts.All, errs[2] = x.all.assembled(x.part(r, x.all))
	if x.sweep != nil {
		parts.Sweep, ok, errs[3] = x.sweep.assembled(x.part(r, x.sweep))
	}
	return parts, ok, errors.Join(errs[:]...)
}

// failures are the ways in which the lock was broken, each with the command that
// finds it again.
func (x *reviewing) failures(parts review.Parts) []review.Failure {
	return review.Failures(parts, func(f review.Failure) string {
		switch f.From {
		case review.FromPromise:
			return x.within.again(f.Seed)
		case review.FromAll:
			return x.all.again(f.Seed)
		}
		return x.sweep.again(&f.Failure)
	})
}

func (x *reviewing) finished(r *results) (finished, error) {
	if n := x.missing(r.Record); n > 0 {
		return finished{}, incomplete(n)
	}
	parts, ok, err := x.parts(r.Record)
	if err != nil {
		return finished{}, err
	}
	failures := x.failures(parts)
	for i := range failures {
		if ok {
			failures[i].Fences, ok, err = fencesTask.Answer(r.Record, review.FenceJob{Run: failures[i].Run})
		}
	}
	if !ok || err != nil {
		return finished{}, errors.Join(err, failedJobs(x.whole, r.Record, r.dir))
	}
	done, err := review.Assemble(x.plan.Plan, x.lock, parts, failures, runfiles.Again(x.Public()))
	if err != nil {
		return finished{}, &console.BrokenError{Cause: err}
	}
	again := fmt.Sprintf("%s report --review --lock %s --seeds %d --runs %d", x.PublicName(), console.Quote(x.lock.Name), x.plan.Seeds.Len(), x.plan.Runs)
	if x.plan.Faults != nil {
		again += " --faults " + cmp.Or(strings.Join(x.plan.Faults, ","), spaces.NoFaults)
	}
	file := func(name string, render func(io.Writer, *review.Review, reports.Options) error) func() (outfile.Document, error) {
		return func() (outfile.Document, error) {
			var b bytes.Buffer
			err := render(&b, done, reports.Options{Replay: again})
			return outfile.Document{Name: name, Data: b.Bytes()}, err
		}
	}
	return finished{
		kind:     review.Kind,
		document: done,
		text: func(w io.Writer, opt reports.Options) error {
			opt.Replay = again
			return terminal.Review(w, done, opt)
		},
		files:   []func() (outfile.Document, error){file("review.md", markdown.Review), file("review.html", html.Review)},
		pages:   func(func(string, []byte) error) (problem, err error) { return nil, nil },
		opened:  []string{filepath.Join(r.dir, "review.html"), filepath.Join(r.dir, "review.md")},
		problem: reviewProblem(done),
	}, nil
}

// reviewProblem is the error that decides the exit code.
func reviewProblem(r *review.Review) error {
	f := &r.Figures
	switch {
	case f.Doubtful > 0:
		return &console.BrokenError{Cause: errors.New(r.Advice[0].Text)}
	case f.Within.Violating > 0, f.Promises && f.Swept.Violating > 0, r.Matrix != nil && r.Matrix.Totals.Worse > 0:
		return console.ErrUnexpected
	}
	return nil
}
