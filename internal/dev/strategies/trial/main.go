// Trial searches one lock with several strategies in turns, and prints a line of JSON for each search: package
// strategies builds it with a mistake in package lock.
//
//	trial LOCK STRATEGY,… SEEDS CPU
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"locksim/internal/dev/strategies/trials"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("usage: trial LOCK STRATEGY,... SEEDS CPU")
	}
	strategies := strings.Split(args[1], ",")
	seeds, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	limit, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	l, space, err := subject(args[0])
	if err != nil {
		return err
	}
	for t := range search.CalmTrials(l, space) { // what no search has to look for, and what a program pays once
		if len(t.Violations) > 0 {
			return fmt.Errorf("%s fails without faults: it is no measure of a search", args[0])
		}
	}
	for i := range seeds {
		for j := range strategies { // in turns, and each is the first as often
			space.Strategy = spaces.Strategy(strategies[(i+j)%len(strategies)])
			t, err := searchOnce(l, space, uint64(i)*1_000_000+1, limit)
			if err != nil {
				return err
			}
			if err := json.NewEncoder(os.Stdout).Encode(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// subject is a lock and the space of its search: what its promise covers and, for a specimen, what shows its mistake.
func subject(name string) (play.Lock, spaces.Space, error) {
	l, err := play.Kind(name)
	if err != nil {
		return l, spaces.Space{}, err
	}
	space := spaces.Space{}
	if strings.HasPrefix(name, kinds.BrokenPrefix) {
		l = l.DutiesAlone()
		if space, err = search.SpecimenSpace(name); err != nil {
			return l, space, err
		}
	}
	space, err = search.Discover(l, space)
	return l, space, err
}

// searchOnce searches from a seed on until a run breaks the promise, or the limit of CPU time is over.
func searchOnce(l play.Lock, space spaces.Space, first uint64, limit time.Duration) (trials.Trial, error) {
	t := trials.Trial{Strategy: string(space.Strategy), First: first}
	began, err := cpu()
	if err != nil {
		return t, err
	}
	seeds := outcome.Seeds{First: first, Last: first + 999_999}
	for run := range search.Trials(l, search.Drawn(l, space, seeds)) {
		t.Runs++
		now, err := cpu()
		if err != nil {
			return t, err
		}
		t.CPU = now - began
		if t.Found = len(run.Violations) > 0; t.Found {
			v := run.Violations[0]
			t.What = fmt.Sprintf("%s in mode %s", v.Label, v.Mode)
			return t, nil
		}
		if t.CPU >= limit {
			break
		}
	}
	return t, nil
}

// cpu is the CPU time that the process has taken.
func cpu() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
