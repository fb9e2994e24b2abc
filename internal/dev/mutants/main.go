package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"sync"
	"syscall"

	"locksim/internal/dev/checkout"
	"locksim/internal/dev/gotest"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command is the whole program.
func command(args []string, stdout io.Writer, stderr *os.File) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "only the mutants whose GROUP/NAME matches this regular expression")
	markdown := flags.Bool("markdown", false, "print the table as Markdown")
	jobs := flags.Int("j", runtime.NumCPU(), "how many mutants to try at the same time")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil || *jobs < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "mutants: usage: -run takes a regular expression (%v), -j a number from 1, and there are no arguments\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	results, err := work(ctx, wanted, *jobs, stderr)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "mutants: %v\n", err)
		return exitFailed
	}
	report := text
	if *markdown {
		report = markdownText
	}
	_, _ = io.WriteString(stdout, report(results))
	code := exitOK
	for _, r := range results {
		if r.outcome != killed {
			_, _ = fmt.Fprintf(stderr, "%s: %s: %s\n", r.Path, r.outcome, r.detail)
			code = exitFailed
		}
	}
	return code
}

// work tries the mutants whose names match wanted, jobs of them at a time.
func work(ctx context.Context, wanted *regexp.Regexp, jobs int, stderr *os.File) ([]result, error) {
	root, err := checkout.Root()
	if err != nil {
		return nil, err
	}
	mutants, err := readMutants(root, wanted)
	if err != nil {
		return nil, err
	}
	if len(mutants) == 0 {
		return nil, errors.New("there is no such mutant")
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's directory for temporary files
	w := workshop{gotest.Workshop{Root: root, Dir: dir, Limit: testLimit}}

	tasks := w.soundness(mutants)
	results := make([]result, len(mutants))
	var misfits []error
	for i, m := range mutants {
		overlay, err := m.Overlay(w.Root, w.Dir)
		misfits = append(misfits, err)
		tasks = append(tasks, func(ctx context.Context) error {
			r, err := w.try(ctx, m, overlay)
			results[i] = r
			return err
		})
	}
	if err := errors.Join(misfits...); err != nil {
		return nil, err
	}
	p := newProgress(stderr, len(tasks))
	defer p.end()
	return results, all(ctx, tasks, jobs, p.step)
}

// all executes tasks, jobs of them at a time, until one fails. It calls step after each.
func all(ctx context.Context, tasks []func(context.Context) error, jobs int, step func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan func(context.Context) error, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	var group sync.WaitGroup
	for range jobs {
		group.Go(func() {
			for t := range queue {
				if ctx.Err() != nil {
					return
				}
				if err := t(ctx); err != nil {
					cancel(err) // only the first error is returned: it may have caused the others
					return
				}
				step()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
