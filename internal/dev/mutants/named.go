package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"locksim/internal/book"
	"locksim/internal/dev/gotest"
)

// named runs the tests that the patches in the folder patches name. The header of a patch is a line "Test: PACKAGE
// TEST". The tests must first pass without a mutant. A mutant whose test does not end, or that does not compile, is not
// killed.
type named struct {
	pattern  string
	wanted   *regexp.Regexp
	jobs     int
	results  string
	markdown bool
}

func (n *named) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&n.pattern, "run", "", "only the mutants whose GROUP/NAME matches this regular expression")
	flags.IntVarP(&n.jobs, "jobs", "j", runtime.NumCPU(), "how many mutants to try at the same time")
	flags.StringVar(&n.results, "results", "", "go on with the results of this commit in a file, and add to them")
	flags.BoolVar(&n.markdown, "markdown", false, "print the table as Markdown")
}

func (n *named) Validate([]string) (err error) {
	if n.jobs < 1 {
		return errors.New("--jobs is a number from 1")
	}
	if n.wanted, err = regexp.Compile(n.pattern); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	return nil
}

func (n *named) Run(ctx context.Context, root, dir string, stdout, stderr io.Writer) (err error) {
	mutants, err := readMutants(root, n.wanted)
	if err != nil {
		return err
	}
	if len(mutants) == 0 {
		return errors.New("there is no such mutant")
	}
	b, err := book.Chosen(&book.Choices{Anew: true, Journal: n.results}, tried.name, tried.commit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	shop := workshop{gotest.Workshop{Root: root, Dir: dir, Limit: testLimit}}
	results, err := n.tryAll(ctx, shop, b, mutants, stderr)
	if err != nil {
		return err
	}
	report := text
	if n.markdown {
		report = markdownText
	}
	if _, err := io.WriteString(stdout, report(results)); err != nil {
		return err
	}
	alive := 0
	for _, r := range results {
		if r.outcome != killed {
			_, _ = fmt.Fprintf(stderr, "%s: %s: %s\n", r.Path, r.outcome, r.detail)
			alive++
		}
	}
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants are not killed", alive, len(results))
	}
	return nil
}

// tried is a line of the file of the results.
type tried struct {
	Name    string  `json:"name"`
	Outcome outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
	Commit  string  `json:"commit"`
}

func (t tried) name() string   { return t.Name }
func (t tried) commit() string { return t.Commit }

// task is a run of tests.
type task struct {
	name string
	do   func(context.Context) error
}

// tryAll tries the mutants of which the book has no result, and before them their tests without a mutant. The error is
// the first of all: it may have caused the others.
func (n *named) tryAll(ctx context.Context, w workshop, b *book.Book[string, tried], mutants []mutant,
	progress io.Writer) ([]result, error) {
	var missing []mutant
	var tasks []task
	results := make([]result, len(mutants))
	var misfits []error
	for i, m := range mutants {
		kept, ok, err := b.Kept(m.Name)
		if ok {
			results[i] = result{m, kept.Outcome, kept.Detail}
			continue
		}
		overlay, unfit := m.Overlay(w.Root, w.Dir)
		misfits, missing = append(misfits, err, unfit), append(missing, m)
		tasks = append(tasks, task{m.Name, func(ctx context.Context) (err error) {
			r, err := w.try(ctx, m, overlay)
			if results[i] = r; err != nil || r.outcome == endless {
				return err
			}
			return b.Add(tried{m.Name, r.outcome, r.detail, b.State()})
		}})
	}
	tasks = append(w.soundness(missing), tasks...)
	if err := errors.Join(misfits...); err != nil {
		return nil, err
	}
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(n.jobs)
	var mu sync.Mutex // guards done and the progress
	done := 0
	for _, t := range tasks {
		group.Go(func() error {
			if each.Err() != nil {
				return context.Cause(each)
			}
			if err := t.do(each); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			_, _ = fmt.Fprintf(progress, "%d of %d: %s\n", done, len(tasks), t.name)
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return results, err
}
