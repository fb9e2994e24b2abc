// Command livetable compares the two worlds: it plays scenarios in the simulated world and on real servers, and writes
// reports/LIVE.md. Run it with make live.
//
// A cell is a scenario, a lock and a fencing mode. Its simulated labels are those of some seeds, its live labels those of some
// runs. The worlds agree if every live label is one of the simulated ones. A cell in which they do not is explained by name, in
// explained.go, or the command fails.
//
// Live runs mostly sleep, so several are made at once. Each that has ended is written into a journal, from which the command
// goes on after it was interrupted.
//
//go:debug randseednop=0
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
	"slices"
	"syscall"

	"locksim/internal/live"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// extra are the locks that are not built in.
func extra() []play.Lock { return slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All()) }

func main() {
	if live.Child(extra()...) {
		return
	}
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// options are the flags of the command.
type options struct {
	pairs   *regexp.Regexp // SCENARIO/LOCK
	seeds   int
	times   int
	jobs    int
	scale   float64
	journal string
}

// command is the whole program.
func command(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("livetable", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	pattern := flags.String("run", "", "only the pairs whose SCENARIO/LOCK matches this regular expression")
	flags.IntVar(&o.seeds, "seeds", 20, "how many seeds to simulate")
	flags.IntVar(&o.times, "times", 5, "how many live runs to make")
	flags.IntVar(&o.jobs, "j", 6, "how many live runs to make at once")
	flags.Float64Var(&o.scale, "scale", 0, "by what to multiply the durations (default: the smallest that the servers can take, 0.3 at least)")
	flags.StringVar(&o.journal, "journal", "", "the file with the runs that have been made; they are not made again")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	var err error
	if o.pairs, err = regexp.Compile(*pattern); err != nil || o.jobs < 1 || o.seeds < 1 || o.times < 1 || flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "livetable: -run takes a regular expression (%v), the numbers are from 1 up, and there are no arguments\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pairs, err := measure(ctx, o, stderr)
	if err != nil && !errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintf(stderr, "livetable: %v\n", err)
		return exitFailed
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "livetable: interrupted: the page has the %d pairs that are complete\n", len(pairs))
	}
	if err := write(stdout, pairs, o); err != nil {
		_, _ = fmt.Fprintf(stderr, "livetable: %v\n", err)
		return exitFailed
	}
	if err := errors.Join(err, unexplained(pairs)); err != nil {
		_, _ = fmt.Fprintf(stderr, "livetable: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// errUnexplained is returned if the worlds differ and explained.go does not say why.
var errUnexplained = errors.New("the worlds differ, and nothing explains it")
