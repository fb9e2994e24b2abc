package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"sync"
)

// The exit codes.
const (
	exitOK       = 0
	exitSurvived = 1 // also where the table or the tests are not in order
	exitUsage    = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], groups(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the whole program.
func command(ctx context.Context, args []string, table []group, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "only the mutants whose name matches this regular expression")
	markdown := flags.Bool("markdown", false, "print the table as Markdown")
	jobs := flags.Int("j", 1, "how many mutants to try at the same time")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	keep, err := regexp.Compile(*pattern)
	if err != nil || *jobs < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "mutants: usage: -run takes a regular expression (%v), -j a number from 1, and there are no arguments\n", err)
		return exitUsage
	}
	table = matching(table, keep.MatchString)
	results, err := work(ctx, all(table), *jobs, stderr)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "mutants: %v\n", err)
		return exitSurvived
	}
	report := text
	if *markdown {
		report = markdownText
	}
	_, _ = io.WriteString(stdout, report(table, results))
	return verdict(all(table), results, stderr)
}

// verdict tells what was not killed, and returns the exit code.
func verdict(mutants []mutant, results map[string]result, stderr io.Writer) int {
	code := exitOK
	for _, m := range mutants {
		if r := results[m.name]; r.fate != killed {
			_, _ = fmt.Fprintf(stderr, "%s: %s: %s\n", r.name, r.fate, r.detail)
			code = exitSurvived
		}
	}
	return code
}

// work tries the mutants, some at a time, and returns the results by name.
func work(ctx context.Context, mutants []mutant, jobs int, progress io.Writer) (map[string]result, error) {
	root, err := findRoot(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's directory for such things
	w := workshop{root: root, dir: dir}
	_, _ = fmt.Fprintln(progress, "the named tests without a mutant …")
	if err := w.sound(ctx, mutants); err != nil {
		return nil, err
	}
	return w.tryAll(ctx, mutants, jobs, progress)
}

func (w workshop) tryAll(ctx context.Context, mutants []mutant, jobs int, progress io.Writer) (map[string]result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards results and progress
	var group sync.WaitGroup
	results := map[string]result{}
	slots := make(chan struct{}, jobs)
	for _, m := range mutants {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			r, err := w.try(ctx, m)
			if err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			results[m.name] = r
			_, _ = fmt.Fprintf(progress, "[%d/%d] %s: %s\n", len(results), len(mutants), m.name, r.fate)
		})
	}
	group.Wait()
	return results, context.Cause(ctx)
}
