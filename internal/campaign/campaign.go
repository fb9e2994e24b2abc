package campaign

import (
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

	"locksim/internal/workers"
)

// Campaign is work that is cut into jobs, numbered from 0.
type Campaign struct {
	// Kind says what sort of work it is, such as "explore".
	Kind string
	// Plan is what every result depends on, besides the number of its job. It
	// is written as JSON.
	Plan any
	// Asked is how the user has put it, where that is not to be seen from the
	// plan. No result depends on it.
	Asked string
	// Jobs is how many jobs there are.
	Jobs int
	// Job makes a job. It is called from several goroutines.
	Job func(i int) Job
	// Take is told of each result once, also of those that a journal had, in any
	// order. last says that jobs of a higher number need not be done any more.
	// The error is that the result cannot be used: it ends the campaign, and the
	// result is not written down. Nil takes all.
	Take func(i int, result json.RawMessage) (last bool, err error)
	// Follow are the jobs that the results call for, such as the examination of
	// what was found. It is called when all numbered jobs have come to their end,
	// and again when these have, until it names no new ones. It must get on with
	// whatever results there are. Nil means that there are none.
	Follow func(r *Record) ([]Job, error)
}

// Options say where and how the jobs of a campaign are done.
type Options struct {
	// Shard is the part of the numbered jobs that is to be done.
	Shard Shard
	// Journal is the file to which each result is appended. Its folder must be
	// there. "" keeps none.
	Journal string
	// Resume says that results that the journal has are not made again. Without
	// it, a journal that has any is an error.
	Resume bool
	// Workers are the child processes. Its Step is not used.
	Workers workers.Options
	// Watch, if not nil, is called with the progress of the jobs.
	Watch func(Progress)
}

// Run has those jobs of a shard done that the journal has no results of, and
// those that the results call for.
//
// The record is never nil: after an error it has what was finished by then, which
// is in the journal. The error is that of the context, of [workers.Run], of Take,
// Follow, or of writing the journal, or a [*JournalError].
func (c Campaign) Run(ctx context.Context, opt Options) (*Record, error) {
	r := &run{Campaign: c, opt: opt}
	r.end.Store(math.MaxInt64)
	var err error
	if r.journal, r.record, err = openJournal(c, opt); err != nil {
		return newRecord(), &JournalError{File: opt.Journal, Cause: err}
	}
	if err := r.load(); err != nil {
		return r.record, &JournalError{File: opt.Journal, Cause: errors.Join(err, r.journal.close())}
	}
	err = r.numbered(ctx)
	if err == nil {
		err = r.follow(ctx)
	}
	return r.record, errors.Join(err, r.journal.close())
}

// FollowUp has those jobs done that the results of a record call for, and adds
// their answers to it. It makes no numbered job, and writes no journal. The error
// is as that of Run; it is a [*JournalError] where results cannot be used.
func (c Campaign) FollowUp(ctx context.Context, opt Options, record *Record) error {
	r := &run{Campaign: c, opt: opt, record: record}
	r.end.Store(math.MaxInt64)
	if err := r.load(); err != nil {
		return &JournalError{File: record.Name, Cause: err}
	}
	return r.follow(ctx)
}

// run is a campaign at work.
type run struct {
	Campaign
	opt     Options
	journal *journal
	record  *Record
	end     atomic.Int64 // the lowest job after which no other need be done
}

// load takes the results that are there.
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

// numbered has the jobs done that have a number.
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
			return r.journal.write(line{Job: &i, Failed: a.err.Error()})
		}
		if err := r.take(i, a.text); err != nil {
			return err
		}
		delete(r.record.Failed, i)
		r.record.Results[i], r.record.Took[i] = a.text, a.took
		return r.journal.write(line{Job: &i, Result: a.text})
	})
}

// follow has the jobs done that the results call for.
func (r *run) follow(ctx context.Context) error {
	failed := map[string]bool{} // they are not tried again at once
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
		err = do(ctx, r.opt.Workers, m, slices.Values(todo), func(id int) Job { return todo[id] }, func(id int, a answer) error {
			if a.err != nil {
				failed[keys[id]] = true
				r.record.FailedAnswers = append(r.record.FailedAnswers, todo[id].named(a.err))
				return nil
			}
			r.record.Answers[keys[id]] = a.text
			return r.journal.write(line{Follow: keys[id], Result: a.text})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// answer is what became of a job.
type answer struct {
	text json.RawMessage
	err  error
	took time.Duration
}

// Do has jobs done that are nobody's campaign: nothing is written down, and
// nothing is kept. done is called for each as soon as it has come to its end, in
// any order, on the goroutine of the caller; an error that it returns ends all
// work.
func Do(ctx context.Context, opt workers.Options, watch func(Progress), jobs []Job, done func(id int, answer json.RawMessage, err error) error) error {
	m := newMeter(watch)
	for _, j := range jobs {
		m.add(j, false)
	}
	return do(ctx, opt, m, slices.Values(jobs), func(id int) Job { return jobs[id] }, func(id int, a answer) error {
		return done(id, a.text, a.err)
	})
}

func do(ctx context.Context, opt workers.Options, m *meter, jobs iter.Seq[Job], job func(id int) Job, done func(id int, a answer) error) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	m.show()
	opt.Step = func(id int) { m.step(id, job(id)) }
	requests := func(yield func(request[any]) bool) {
		for j := range jobs {
			if !yield(request[any]{j.task, j.data}) {
				return
			}
		}
	}
	return workers.Run(ctx, opt, requests, func(d workers.Done[request[any], json.RawMessage]) {
		m.done(d.ID, job(d.ID))
		if err := done(d.ID, answer{d.Result, d.Err, d.Wall}); err != nil {
			giveUp(err)
		}
	})
}

// FirstFailed says why the lowest job that failed has no result, or one that
// results have called for, and how many there are; nil where none has failed.
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

// Join makes one campaign of several: its jobs are theirs, in their order, and
// so are the jobs that results call for. part is what a record of the whole knows
// of the k-th of them.
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
