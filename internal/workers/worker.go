package workers

import (
	"context"
	"encoding/json"
	"errors"
)

// worker keeps one child at work.
type worker struct {
	opt   Options
	child *child // nil: the next job starts one
}

// do has a job done, by a second child if the first one dies under it. The first
// error is that of the job, the second one ends all work: a [*StartError], or
// that of the context.
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
	result, err := w.child.ask(ctx, req, w.opt.Silence, step)
	if err == nil {
		return result, nil, nil
	}
	if answer, ok := errors.AsType[*JobError](err); ok {
		if answer.spent {
			w.child.retire()
			w.child = nil
		}
		return nil, answer, nil
	}
	how := w.child.end(err)
	said := w.child.stderr.String()
	w.child = nil
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, errSilent):
		return nil, &HangError{After: w.opt.Silence, Stderr: said}, nil
	}
	return nil, &CrashError{How: how, Stderr: said}, nil
}

// stop lets the child go: at once when the work was given up.
func (w *worker) stop(ctx context.Context) {
	switch {
	case w.child == nil:
	case ctx.Err() != nil:
		w.child.kill()
	default:
		w.child.retire()
	}
}
