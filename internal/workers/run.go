package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"locksim/internal/child"
)

// Options say how [Run] executes jobs.
type Options struct {
	// Command makes the command of a child, which must call [Serve] on its
	// standard input and output. Run takes both, and standard error, and adds
	// GOMAXPROCS=1 to the environment. It is called from several goroutines.
	// Required.
	Command func() *exec.Cmd
	// Workers is the number of children. Default: one per core that this
	// process may use.
	Workers int
	// Silence is how long a child may send nothing during a job, on the wall clock.
	// Default: 2 minutes.
	Silence time.Duration
	// Step is called with the number of the job for each step that a child reports,
	// never at the same time as itself or done. Default: no calls.
	Step func(id int)
}

const defaultSilence = 2 * time.Minute

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Command == nil:
		return o, ErrNoCommand
	case o.Workers < 0 || o.Silence < 0:
		return o, fmt.Errorf("workers: %d workers, silence %v: leave both 0 for the defaults", o.Workers, o.Silence)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Silence == 0 {
		o.Silence = defaultSilence
	}
	if o.Step == nil {
		o.Step = func(int) {}
	}
	return o, nil
}

// Done is a job that has ended.
type Done[J, R any] struct {
	// ID numbers the jobs in their order, from 0.
	ID  int
	Job J
	// Result is the answer. It is zero when Err is not nil.
	Result R
	// Err is a [*JobError], a [*CrashError] or a [*HangError].
	Err error
	// Wall is the time that the job took on the wall clock, including a second try.
	Wall time.Duration
}

// Run executes the jobs in child processes, and calls done for each as soon as it has
// ended, in any order, on the goroutine of the caller. It takes jobs from the sequence
// when a child is free, on another goroutine.
//
// Run returns when all jobs have ended and all children have exited. When the context
// ends, it kills the children and returns the error of the context; when a child cannot
// be started, it does the same with a [*StartError]. Jobs that ended before that were
// passed to done.
func Run[J, R any](ctx context.Context, opt Options, jobs iter.Seq[J], done func(Done[J, R])) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := &pool[J, R]{opt: opt, tasks: make(chan task[J]), events: make(chan func())}
	ctx, p.cancel = context.WithCancelCause(ctx)
	go p.run(ctx, jobs, done)
	defer func() { // needed if done has panicked
		p.cancel(nil)
		for range p.events {
			continue
		}
	}()
	for event := range p.events {
		event()
	}
	if p.complete {
		return nil
	}
	return context.Cause(ctx)
}

// pool is the state of one Run.
type pool[J, R any] struct {
	opt      Options
	tasks    chan task[J]
	events   chan func() // the calls for the caller's goroutine; closed at the end
	cancel   context.CancelCauseFunc
	complete bool // all jobs have ended; set before events is closed
}

// task is a job with its number.
type task[J any] struct {
	id  int
	job J
}

// run distributes the jobs and waits for all workers.
func (p *pool[J, R]) run(ctx context.Context, jobs iter.Seq[J], done func(Done[J, R])) {
	var all sync.WaitGroup
	for range p.opt.Workers {
		all.Go(func() { p.work(ctx, done) })
	}
	fed := p.feed(ctx, jobs)
	all.Wait()
	p.complete = fed && ctx.Err() == nil
	close(p.events)
}

// feed distributes the jobs. It returns false when the context has ended.
func (p *pool[J, R]) feed(ctx context.Context, jobs iter.Seq[J]) bool {
	defer close(p.tasks)
	id := 0
	for job := range jobs {
		select {
		case p.tasks <- task[J]{id, job}:
			id++
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// work executes jobs with one worker until there are no more.
func (p *pool[J, R]) work(ctx context.Context, done func(Done[J, R])) {
	w := &worker{opt: p.opt}
	defer w.stop(ctx)
	for t := range p.tasks {
		d, err := p.do(ctx, w, t)
		if err != nil {
			p.cancel(err)
			return
		}
		p.events <- func() { done(d) }
	}
}

// do executes one job. An error ends all jobs.
func (p *pool[J, R]) do(ctx context.Context, w *worker, t task[J]) (Done[J, R], error) {
	began := time.Now()
	d := Done[J, R]{ID: t.id, Job: t.job}
	b, err := json.Marshal(t.job)
	if err != nil || len(b) > child.MaxLine/2 {
		d.Err = &JobError{Text: fmt.Sprintf("this job cannot be sent: %d bytes of JSON: %v", len(b), err)}
		return d, nil
	}
	raw, failed, fatal := w.do(ctx, request{ID: t.id, Job: b}, func() { p.events <- func() { p.opt.Step(t.id) } })
	if fatal != nil {
		return d, fatal
	}
	d.Err, d.Wall = failed, time.Since(began)
	if failed == nil {
		if err := json.Unmarshal(raw, &d.Result); err != nil {
			d.Err = &JobError{Text: "the answer cannot be read: " + err.Error()}
		}
	}
	return d, nil
}

// worker executes jobs in one child at a time.
type worker struct {
	opt   Options
	child *worked // nil: the next job starts one
}

// do executes a job, in a second child if the first one exits. failed is the error of
// the job. fatal ends all jobs: a [*StartError], or the error of the context.
func (w *worker) do(ctx context.Context, req request, step func()) (result json.RawMessage, failed, fatal error) {
	if result, failed, fatal = w.try(ctx, req, step); !isCrash(failed) {
		return result, failed, fatal
	}
	return w.try(ctx, req, step)
}

func isCrash(err error) bool {
	_, crashed := errors.AsType[*CrashError](err)
	return crashed
}

func (w *worker) try(ctx context.Context, req request, step func()) (result json.RawMessage, failed, fatal error) {
	if w.child == nil {
		if w.child, fatal = start(ctx, w.opt.Command); fatal != nil {
			return nil, nil, fatal
		}
	}
	steps := 0
	r, err := w.child.ask(ctx, req, w.opt.Silence, func() {
		steps++
		step()
	})
	answer, answered := errors.AsType[*JobError](err)
	if (err == nil || answered) && r.Spent {
		w.child.retire()
		w.child = nil
	}
	switch {
	case err == nil:
		return r.Result, nil, nil
	case answered:
		return nil, answer, nil
	}
	how := w.child.end(err)
	stderr := w.child.Said.String()
	w.child = nil
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, errSilent):
		return nil, &HangError{After: w.opt.Silence, Stderr: stderr}, nil
	}
	return nil, &CrashError{How: how, Stderr: stderr, Steps: steps}, nil
}

// stop ends the child, and kills it if the context has ended.
func (w *worker) stop(ctx context.Context) {
	switch {
	case w.child == nil:
	case ctx.Err() != nil:
		w.child.kill()
	default:
		w.child.retire()
	}
}
