package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"locksim/internal/journal"
	"locksim/internal/workers"
)

// Campaign is work that is divided into jobs, numbered from 0.
type Campaign struct {
	// Kind is the kind of work, such as "explore".
	Kind string
	// Plan has all that the results depend on, apart from the numbers of the jobs. It
	// is written as JSON.
	Plan any
	// Asked is the user's request in their own words, where the plan does not show
	// that. No result depends on it.
	Asked string
	// Jobs is the number of jobs.
	Jobs int
	// Job makes a job. It is called from several goroutines.
	Job func(i int) Job
	// Take is called once with each result, also with those from a journal, in any
	// order. If last is true, jobs of a higher number need not be executed any more. An
	// error means that the result cannot be used: it ends the campaign, and the result
	// is not written. Nil accepts all results.
	Take func(i int, result json.RawMessage) (last bool, err error)
	// Follow returns the jobs that follow from the results, such as the examination of
	// failures. It is called when all numbered jobs have ended, and again when the
	// returned jobs have ended, until it returns no new ones. It must accept a record in
	// which results are missing. Nil means that no jobs follow.
	Follow func(r *Record) ([]Job, error)
}

// Options say where and how the jobs of a campaign are executed.
type Options struct {
	// Shard is the part of the numbered jobs to execute.
	Shard Shard
	// Journal is the file to which each result is appended. Its folder must exist. ""
	// means no journal.
	Journal string
	// Resume keeps the results in the journal and executes the other jobs. Without it,
	// a journal with results is an error.
	Resume bool
	// Workers are the child processes. Its Step is not used.
	Workers workers.Options
	// Watch, if not nil, is called with the progress of the jobs.
	Watch func(Progress)
	// Unwritten, if not nil, is called with the error of the first write to the journal that
	// fails. The campaign then goes on without a journal. If it is nil, the error ends the
	// campaign.
	Unwritten func(err error)
}

// Run executes those jobs of a shard that have no result in the journal, and then the
// jobs that follow from the results.
//
// The record is never nil: after an error it has the results that were finished, which
// are also in the journal. The error is that of the context, of [workers.Run], of Take,
// Follow, or of writing the journal (see [Options.Unwritten]), or a [*JournalError].
func (c Campaign) Run(ctx context.Context, opt Options) (*Record, error) {
	r := &run{Campaign: c, opt: opt}
	r.end.Store(math.MaxInt64)
	var err error
	if r.journal, r.record, err = openJournal(c, opt); err != nil {
		return newRecord(), &JournalError{File: opt.Journal, Cause: err}
	}
	if err := r.load(); err != nil {
		return r.record, &JournalError{File: opt.Journal, Cause: errors.Join(err, r.journal.Close())}
	}
	err = r.numbered(ctx)
	if err == nil {
		err = r.follow(ctx)
	}
	return r.record, errors.Join(err, r.journal.Close())
}

// FollowUp executes the jobs that follow from the results of a record, and adds their
// answers to it. It executes no numbered job, and writes no journal. The errors are
// those of Run; results that cannot be used are a [*JournalError].
func (c Campaign) FollowUp(ctx context.Context, opt Options, record *Record) error {
	r := &run{Campaign: c, opt: opt, record: record}
	r.end.Store(math.MaxInt64)
	if err := r.load(); err != nil {
		return &JournalError{File: record.Name, Cause: err}
	}
	return r.follow(ctx)
}

// run is one execution of a campaign.
type run struct {
	Campaign
	opt     Options
	journal *journal.Journal
	record  *Record
	end     atomic.Int64 // jobs of a higher number need not be executed
}

// load takes the results that the record already has.
func (r *run) load() error {
	for _, i := range slices.Sorted(maps.Keys(r.record.Results)) {
		err := fmt.Errorf("there are %d jobs", r.Jobs)
		if i < r.Jobs {
			err = r.take(i, r.record.Results[i])
		}
		if err != nil {
			return fmt.Errorf("%sthe result of job %d cannot be used: %w", r.record.prefix(), i, err)
		}
	}
	return nil
}

func (r *run) take(i int, result json.RawMessage) error {
	if r.Take == nil {
		return nil
	}
	last, err := r.Take(i, result)
	if last && err == nil {
		r.end.Store(min(r.end.Load(), int64(i)))
	}
	return err
}

func (r *run) numbered(ctx context.Context) error {
	var todo []int
	m := newMeter(r.opt.Watch)
	for i := range r.Jobs {
		if !r.opt.Shard.Has(i) {
			continue
		}
		r.record.All++
		_, finished := r.record.Results[i]
		m.add(r.Job(i), finished)
		if !finished {
			todo = append(todo, i)
		}
	}
	jobs := func(yield func(Job) bool) {
		for _, i := range todo {
			if int64(i) > r.end.Load() || !yield(r.Job(i)) {
				return
			}
		}
	}
	if len(todo) == 0 {
		return nil
	}
	defer func() { r.record.Made = m.p.Made }()
	return do(ctx, r.opt.Workers, m, jobs, func(id int) Job { return r.Job(todo[id]) }, func(id int, a answer) error {
		i := todo[id]
		if a.err != nil {
			r.record.Failed[i] = a.err
			return r.write(line{Job: &i, Failed: a.err.Error()})
		}
		if err := r.take(i, a.text); err != nil {
			return err
		}
		delete(r.record.Failed, i)
		r.record.Results[i], r.record.Took[i] = a.text, a.took
		return r.write(line{Job: &i, Result: a.text})
	})
}

func (r *run) follow(ctx context.Context) error {
	failed := map[string]bool{} // not tried again in this run
	for r.Follow != nil {
		all, err := r.Follow(r.record)
		if err != nil {
			return err
		}
		m := newMeter(r.opt.Watch)
		var todo []Job
		var keys []string
		for _, j := range all {
			key, err := j.key()
			if err != nil {
				return err
			}
			_, known := r.record.Answers[key]
			m.add(j, known)
			if !known && !failed[key] {
				todo, keys = append(todo, j), append(keys, key)
			}
		}
		if len(todo) == 0 {
			return nil
		}
		r.record.All = len(r.record.Results) + len(r.record.Answers) + len(todo)
		err = do(ctx, r.opt.Workers, m, slices.Values(todo), func(id int) Job { return todo[id] },
			func(id int, a answer) error {
				if a.err != nil {
					failed[keys[id]] = true
					r.record.FailedAnswers = append(r.record.FailedAnswers, todo[id].named(a.err))
					return nil
				}
				r.record.Answers[keys[id]] = a.text
				return r.write(line{Follow: keys[id], Result: a.text})
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// write appends a line to the journal.
func (r *run) write(l line) error {
	err := r.journal.Add(l)
	if err == nil || r.opt.Unwritten == nil {
		return err
	}
	r.opt.Unwritten(errors.Join(err, r.journal.Close()))
	r.journal = nil
	return nil
}

// answer is the result of a job, or its error.
type answer struct {
	text json.RawMessage
	err  error
	took time.Duration
}

// Do executes jobs that belong to no campaign, without a journal. It calls done for
// each job as soon as it has ended, in any order, on the goroutine of the caller. An
// error of done ends all jobs.
func Do(ctx context.Context, opt workers.Options, watch func(Progress), jobs []Job,
	done func(id int, answer json.RawMessage, err error) error) error {
	m := newMeter(watch)
	for _, j := range jobs {
		m.add(j, false)
	}
	return do(ctx, opt, m, slices.Values(jobs), func(id int) Job { return jobs[id] }, func(id int, a answer) error {
		return done(id, a.text, a.err)
	})
}

func do(ctx context.Context, opt workers.Options, m *meter, jobs iter.Seq[Job], job func(id int) Job,
	done func(id int, a answer) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m.show()
	opt.Step = func(id int) { m.step(id, job(id)) }
	requests := func(yield func(request[any]) bool) {
		for j := range jobs {
			if !yield(request[any]{j.task, j.data}) {
				return
			}
		}
	}
	var refused error // of done, also of the last job, after which there is nothing to cancel
	err := workers.Run(ctx, opt, requests, func(d workers.Done[request[any], json.RawMessage]) {
		m.done(d.ID, job(d.ID))
		if err := done(d.ID, answer{d.Result, job(d.ID).crashed(d.Err), d.Wall}); err != nil && refused == nil {
			refused = err
			cancel(err)
		}
	})
	return cmp.Or(refused, err)
}

// FirstFailed is the error of the failed job with the lowest number or, without one,
// of a failed job that followed from results. failed counts all failed jobs. The error
// is nil if none has failed.
func (c Campaign) FirstFailed(r *Record) (failed int, err error) {
	failed = len(r.Failed) + len(r.FailedAnswers)
	switch {
	case len(r.Failed) > 0:
		i := slices.Min(slices.Collect(maps.Keys(r.Failed)))
		return failed, fmt.Errorf("job %d: %w", i, c.Job(i).named(r.Failed[i]))
	case len(r.FailedAnswers) > 0:
		return failed, r.FailedAnswers[0]
	}
	return 0, nil
}

// Join makes one campaign of several: it has the jobs of all in their order, and the
// jobs that follow from their results. part takes the record of the k-th campaign from
// the record of the whole.
func Join(kind string, plan any, parts ...Campaign) (whole Campaign, part func(r *Record, k int) *Record) {
	whole = Campaign{Kind: kind, Plan: plan}
	first := make([]int, len(parts))
	for k, p := range parts {
		first[k] = whole.Jobs
		whole.Jobs += p.Jobs
	}
	of := func(i int) (c Campaign, number int) {
		k := len(parts) - 1
		for first[k] > i {
			k--
		}
		return parts[k], i - first[k]
	}
	part = func(r *Record, k int) *Record { return r.part(first[k], parts[k].Jobs) }
	whole.Job = func(i int) Job {
		c, number := of(i)
		return c.Job(number)
	}
	whole.Take = func(i int, result json.RawMessage) (last bool, err error) {
		if c, number := of(i); c.Take != nil {
			_, err = c.Take(number, result)
		}
		return false, err
	}
	whole.Follow = func(r *Record) (jobs []Job, err error) {
		for k, p := range parts {
			if p.Follow == nil {
				continue
			}
			more, err := p.Follow(part(r, k))
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, more...)
		}
		return jobs, nil
	}
	return whole, part
}
