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

	"locksim/internal/workers"
)

// Campaign is work that is cut into jobs, numbered from 0. J is what a child is
// sent, A what it answers, and R what is kept of that: a value that is the same
// after it was written as JSON and read again.
type Campaign[J, A, R any] struct {
	// Kind says in the journal what sort of work it is, such as "explore".
	Kind string
	// Plan is what every result depends on, besides the number of its job. It
	// is written as JSON.
	Plan any
	// Jobs is how many jobs there are.
	Jobs int
	// Job makes a job. It is called on another goroutine than the other
	// functions.
	Job func(i int) J
	// Result makes of an answer what is kept. An error is kept apart, and its
	// job is done again when the campaign goes on.
	Result func(i int, d workers.Done[J, A]) (R, error)
	// Ends reports whether a result ends the campaign: jobs of a higher number
	// are then not begun any more. Nil means that none does.
	Ends func(R) bool
	// Step is told of each step that a child reports, Done of each result, also
	// of those that a journal had. Nil means that nobody asks.
	Step func(i int)
	Done func(i int, r R)
}

// Options say where and how the jobs of a campaign are done.
type Options struct {
	// Shard is the part of the jobs that is to be done.
	Shard Shard
	// Journal is the file to which each result is appended. Its folder must be
	// there. "" keeps none.
	Journal string
	// Resume says that results that the journal has are not made again. Without
	// it, a journal that has any is an error.
	Resume bool
	// Workers are the child processes. Its Step is not used.
	Workers workers.Options
}

// Results are what a campaign has come to.
type Results[R any] struct {
	// Finished are the results by number, those of the journal too.
	Finished map[int]R
	// Failed are the errors of jobs that have none.
	Failed map[int]error
}

// FirstFailed is the lowest job that failed, and its error; nil where none did.
func (r *Results[R]) FirstFailed() (job int, err error) {
	if len(r.Failed) == 0 {
		return 0, nil
	}
	job = slices.Min(slices.Collect(maps.Keys(r.Failed)))
	return job, r.Failed[job]
}

// Run has those jobs of a shard done that the journal has no results of.
//
// The results are never nil: after an error they are those that were finished by
// then, and they are in the journal. The error is that of the context, of
// [workers.Run] or of writing the journal, or a [*JournalError].
func (c Campaign[J, A, R]) Run(ctx context.Context, opt Options) (*Results[R], error) {
	r := &run[J, A, R]{Campaign: c, results: &Results[R]{Finished: map[int]R{}, Failed: map[int]error{}}}
	r.end.Store(math.MaxInt64)
	j, before, err := openJournal(opt, c.Kind, c.Plan)
	if err != nil {
		return r.results, &JournalError{File: opt.Journal, Cause: err}
	}
	r.journal = j
	if err := r.load(before); err != nil {
		return r.results, &JournalError{File: opt.Journal, Cause: errors.Join(err, j.close())}
	}
	for i := range c.Jobs {
		if _, finished := r.results.Finished[i]; opt.Shard.Has(i) && !finished {
			r.todo = append(r.todo, i)
		}
	}
	err = r.work(ctx, opt.Workers)
	return r.results, errors.Join(err, j.close())
}

// run is a campaign at work.
type run[J, A, R any] struct {
	Campaign[J, A, R]
	results *Results[R]
	journal *journal
	todo    []int        // the numbers of the jobs that are to be done, in order
	end     atomic.Int64 // the lowest job that ends the campaign
	giveUp  context.CancelCauseFunc
}

// load takes over what the journal knows.
func (r *run[J, A, R]) load(before *Record) error {
	for _, i := range slices.Sorted(maps.Keys(before.Results)) {
		var result R
		if err := json.Unmarshal(before.Results[i], &result); err != nil || i >= r.Jobs {
			return fmt.Errorf("%s: the result of job %d cannot be used: %w", before.Name, i, errors.Join(err, r.known(i)))
		}
		r.keep(i, result)
	}
	return nil
}

func (r *run[J, A, R]) known(i int) error {
	if i < r.Jobs {
		return nil
	}
	return fmt.Errorf("there are %d jobs", r.Jobs)
}

func (r *run[J, A, R]) work(ctx context.Context, opt workers.Options) error {
	if len(r.todo) == 0 {
		return nil
	}
	ctx, r.giveUp = context.WithCancelCause(ctx)
	defer r.giveUp(nil)
	opt.Step = func(id int) {
		if r.Step != nil {
			r.Step(r.todo[id])
		}
	}
	return workers.Run(ctx, opt, r.jobs(), r.done)
}

// jobs are the jobs that are to be done, up to the one that ends the campaign.
func (r *run[J, A, R]) jobs() iter.Seq[J] {
	return func(yield func(J) bool) {
		for _, i := range r.todo {
			if int64(i) > r.end.Load() || !yield(r.Job(i)) {
				return
			}
		}
	}
}

// done is told of a job that has come to its end.
func (r *run[J, A, R]) done(d workers.Done[J, A]) {
	i := r.todo[d.ID]
	result, err := r.Result(i, d)
	if err != nil {
		r.results.Failed[i] = err
		return
	}
	if err := r.journal.add(i, result); err != nil {
		r.giveUp(err)
		return
	}
	r.keep(i, result)
}

func (r *run[J, A, R]) keep(i int, result R) {
	r.results.Finished[i] = result
	if r.Ends != nil && r.Ends(result) {
		r.end.Store(min(r.end.Load(), int64(i)))
	}
	if r.Done != nil {
		r.Done(i, result)
	}
}
