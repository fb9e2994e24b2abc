package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

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
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	locks, err := regexp.Compile(*pattern)
	if err != nil || *most < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "findings: usage: -run takes a regular expression (%v), -most a number from 1, and "+
			"there are no arguments\n", err)
		return exitUsage
	}
	rows, err := measureAll(locks.MatchString, *most, stderr)
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
		if r.runs.any.missed() > 0 {
			_, _ = fmt.Fprintf(stderr, "findings: no violation of %s from %d of the first seeds\n", r.lock, r.runs.any.missed())
			code = exitFailed
		}
	}
	return code
}

// measureAll measures the wanted locks.
func measureAll(wanted func(string) bool, most int, progress io.Writer) ([]row, error) {
	var rows []row
	for _, name := range append(kinds.Specimens(), "single") {
		if !wanted(name) {
			continue
		}
		r, err := measure(name, most)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, r)
		_, _ = fmt.Fprintf(progress, "%s: %v and %v\n", name, r.runs.any, r.runs.mistake)
	}
	return rows, nil
}
