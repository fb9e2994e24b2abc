package works

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
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/review"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Review is the review of a lock. It consists of other campaigns, whose jobs it
// joins into one campaign. Each of them is nil where that part is not made.
type Review struct {
	*console.Console
	lock   subject.Lock
	plan   *review.Work
	matrix *Matrix
	within *Exploration
	all    *Exploration
	sweep  *Sweep

	whole campaign.Campaign
	// part is the record of one of them, taken from the record of the review.
	part func(r *campaign.Record, of publish.Work) *campaign.Record
}

// NewReview is a review of a lock by its plan.
func NewReview(c *console.Console, l subject.Lock, plan *review.Work) *Review {
	x := &Review{Console: c, lock: l, plan: plan}
	var parts []publish.Work
	if plan.Matrix != nil {
		x.matrix = &Matrix{Console: c.Public(), Plan: plan.Matrix}
		parts = append(parts, x.matrix)
	}
	if plan.Within != nil {
		x.within = &Exploration{Console: c.Public(), Plan: plan.Within}
		parts = append(parts, x.within)
	}
	x.all = &Exploration{Console: c.Public(), Plan: plan.All}
	parts = append(parts, x.all)
	if plan.Sweep != nil {
		x.sweep = &Sweep{Console: c.Public(), Plan: plan.Sweep, Scenario: plan.Swept}
		parts = append(parts, x.sweep)
	}
	var campaigns []campaign.Campaign
	for _, p := range parts {
		campaigns = append(campaigns, p.Campaign())
	}
	var part func(*campaign.Record, int) *campaign.Record
	x.whole, part = campaign.Join(reviews.Kind, plan, campaigns...)
	x.part = func(r *campaign.Record, of publish.Work) *campaign.Record { return part(r, slices.Index(parts, of)) }
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

func readReview(c *console.Console, extra []subject.Lock, r *campaign.Record) (*Review, error) {
	plan, err := review.ReadWork(r.Plan, extra)
	if err != nil {
		return nil, err
	}
	l, err := redislocks.Find(plan.Lock, extra)
	if err != nil {
		return nil, err
	}
	return NewReview(c, l, plan), nil
}

// Campaign implements [publish.Work].
func (x *Review) Campaign() campaign.Campaign { return x.whole }

// Detail implements [publish.Work].
func (x *Review) Detail() string { return "" }

// Divisible implements [publish.Work].
func (x *Review) Divisible() bool { return false }

// follow are the jobs that follow from results: first those of the parts, then the run
// of each failure in each fencing mode. A shard has none, since none of its parts is
// complete.
func (x *Review) follow(r *campaign.Record, examinations func(*campaign.Record) ([]campaign.Job,
	error)) ([]campaign.Job, error) {
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
func (x *Review) missing(r *campaign.Record) int {
	n := x.whole.Jobs - len(r.Results)
	if x.matrix != nil {
		n -= len(x.part(r, x.matrix).Failed)
	}
	return n
}

// parts are the measurements. ok is false where a violation has not been examined.
func (x *Review) parts(r *campaign.Record) (parts reviews.Parts, ok bool, err error) {
	parts = reviews.Parts{Missing: x.plan.Missing}
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
func (x *Review) failures(parts reviews.Parts) []reviews.Failure {
	return reviews.Failures(parts, func(f reviews.Failure) string {
		switch f.From {
		case reviews.FromPromise:
			return x.within.again(f.Seed)
		case reviews.FromAll:
			return x.all.again(f.Seed)
		}
		return x.sweep.again(&f.Failure)
	})
}

// Finished implements [publish.Work].
func (x *Review) Finished(r *publish.Results) (publish.Finished, error) {
	if n := x.missing(r.Record); n > 0 {
		return publish.Finished{}, publish.Incomplete(n)
	}
	parts, ok, err := x.parts(r.Record)
	if err != nil {
		return publish.Finished{}, err
	}
	failures := x.failures(parts)
	for i := range failures {
		if ok {
			failures[i].Fences, ok, err = fencesTask.Answer(r.Record, review.FenceJob{Run: failures[i].Run})
		}
	}
	if !ok || err != nil {
		return publish.Finished{}, errors.Join(err, publish.FailedJobs(x.whole, r.Record, r.Dir))
	}
	done, err := review.Assemble(x.plan.Plan, x.lock, parts, failures, runfiles.Again(x.Public()))
	if err != nil {
		return publish.Finished{}, &console.BrokenError{Cause: err}
	}
	again := fmt.Sprintf("%s report --review --lock %s --seeds %d --runs %d", x.PublicName(), console.Quote(x.lock.Name),
		x.plan.Seeds.Len(), x.plan.Runs)
	if x.plan.Faults != nil {
		again += " --faults " + cmp.Or(strings.Join(x.plan.Faults, ","), spaces.NoFaults)
	}
	file := func(name string, render func(io.Writer, *reviews.Review, reports.Options) error) func() (outfile.Document,
		error) {
		return func() (outfile.Document, error) {
			var b bytes.Buffer
			err := render(&b, done, reports.Options{Replay: again})
			return outfile.Document{Name: name, Data: b.Bytes()}, err
		}
	}
	return publish.Finished{
		Kind:     reviews.Kind,
		Document: done,
		Text: func(w io.Writer, opt reports.Options) error {
			opt.Replay = again
			return terminal.Review(w, done, opt)
		},
		Files: []func() (outfile.Document, error){file("review.md", markdown.Review)},
		Pages: func(add func(string, []byte) error) (problem, err error) {
			figure, err := x.drawWorst(r, done)
			if err != nil {
				return nil, err
			}
			var page bytes.Buffer
			if err := html.Review(&page, done, html.ReviewOptions{Replay: again, Figure: figure}); err != nil {
				return nil, err
			}
			return nil, add("review.html", page.Bytes())
		},
		Opened:  []string{filepath.Join(r.Dir, "review.html"), filepath.Join(r.Dir, "review.md")},
		Problem: reviewProblem(done),
	}, nil
}

// drawWorst is the diagram of the worst failure, which a child process draws: nil, with a
// note, where that cannot be done.
func (x *Review) drawWorst(r *publish.Results, done *reviews.Review) (html.Found, error) {
	w := done.Worst()
	if w == nil {
		return nil, nil
	}
	var job campaign.Job
	if w.Failure != nil {
		job = publish.FoundPageTask.Job(publish.FoundPageJob{Run: w.Failure.Run, Mode: w.Mode, ID: "worst", Answers: true})
	} else {
		job = figureTask.Job(figureJob{Lock: x.lock.Name, Scenario: w.Scenario.Name, Seed: w.Seed, Mode: w.Mode, ID: "worst",
			Width: publish.FoundWidth, Answers: true})
	}
	var figure html.Found
	err := r.WritePages([]publish.PageJob{{Name: "worst", Job: job}}, func(_ string, made publish.Page) error {
		figure = made.Figure
		return nil
	}, func(_ string, err error) { x.Note(fmt.Sprintf("no diagram of the worst failure: %v", err)) })
	return figure, err
}

// reviewProblem is the error that decides the exit code.
func reviewProblem(r *reviews.Review) error {
	f := &r.Figures
	switch {
	case f.Doubtful > 0:
		return &console.BrokenError{Cause: errors.New(r.Advice[0].Text)}
	case f.Within.Violating > 0, f.Promises && f.Swept.Violating > 0, r.Matrix != nil && r.Matrix.Totals.Worse > 0:
		return console.ErrUnexpected
	}
	return nil
}
