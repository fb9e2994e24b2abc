package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"locksim/internal/book"
	"locksim/scenarios/kinds"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// mostRuns is the number of runs after which a search gives up.
const mostRuns = 2000

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command runs the program and returns its exit code.
func command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("findings", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("run", "", "only the locks whose name matches this regular expression")
	most := flags.Int("most", mostRuns, "give up after so many runs")
	results := flags.String("results", "", "go on with the results of this commit in a `file`, and add to them")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	locks, err := regexp.Compile(*pattern)
	if err != nil || *most < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "findings: usage: -run takes a regular expression (%v), -most a number from 1, and "+
			"there are no arguments\n", err)
		return exitUsage
	}
	rows, err := measureAll(locks.MatchString, *most, *results, stderr)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "findings: %v\n", err)
		return exitFailed
	}
	_, _ = io.WriteString(stdout, markdown(rows, *most))
	return verdict(rows, stderr)
}

// verdict prints the locks of which a search found no violation, and returns the exit
// code.
func verdict(rows []row, stderr io.Writer) int {
	code := exitOK
	for _, r := range rows {
		if r.Runs.Any.missed() > 0 {
			_, _ = fmt.Fprintf(stderr, "findings: no violation of %s from %d of the first seeds\n", r.Lock, r.Runs.Any.missed())
			code = exitFailed
		}
	}
	return code
}

// measureAll measures the wanted locks, but for those of which a file has the row of this commit.
func measureAll(wanted func(string) bool, most int, results string, progress io.Writer) (rows []row, err error) {
	b, err := book.Chosen(&book.Choices{Anew: true, Journal: results}, row.key, row.commit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, name := range append(kinds.Specimens(), "single") {
		if !wanted(name) {
			continue
		}
		r, ok, err := b.Kept(key{name, most})
		if err != nil {
			return nil, err
		}
		if !ok {
			if r, err = measure(name, most); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			r.Commit = b.State()
			if err := b.Add(r); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
		_, _ = fmt.Fprintf(progress, "%s: %v and %v\n", name, r.Runs.Any, r.Runs.Mistake)
	}
	return rows, nil
}
