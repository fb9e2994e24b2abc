// Trial searches one lock with several strategies in turns, and prints a line of JSON for each search: package
// trials builds it with a mistake in package lock. Its argument is a plan of that package, as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"locksim/internal/dev/strategies/trials"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: trial PLAN")
	}
	var p trials.Plan
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	print := json.NewEncoder(os.Stdout).Encode
	l, space, err := searched(p.Lock)
	if err != nil { // no client is granted it, or it panics
		return atOnce(p, "fails without faults", print)
	}
	for t := range search.CalmTrials(l, space) { // what no search has to look for, and what a program pays once
		if len(t.Violations) > 0 {
			return atOnce(p, fmt.Sprintf("%s without faults", t.Violations[0].Label), print)
		}
	}
	for i, first := range p.Firsts {
		for j := range p.Strategies { // in turns, and each is the first as often
			space.Strategy = spaces.Strategy(p.Strategies[(i+j)%len(p.Strategies)])
			t, err := searchOnce(l, space, first, p)
			if err != nil {
				return err
			}
			if err := print(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// atOnce prints the searches of a lock that fails without faults.
func atOnce(p trials.Plan, what string, print func(any) error) error {
	for _, first := range p.Firsts {
		for _, s := range p.Strategies {
			if err := print(trials.Trial{Strategy: s, First: first, Found: true, What: what}); err != nil {
				return err
			}
		}
	}
	return nil
}

// searched is a lock and the space of its search: what its promise covers and, for a specimen, what shows its mistake.
func searched(name string) (subject.Lock, spaces.Space, error) {
	l, err := redislocks.Kind(name)
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

// searchOnce searches from a seed on until a run breaks the promise, or a limit of the plan is reached.
func searchOnce(l subject.Lock, space spaces.Space, first uint64, p trials.Plan) (trials.Trial, error) {
	t := trials.Trial{Strategy: string(space.Strategy), First: first}
	began, err := cpu()
	if err != nil {
		return t, err
	}
	seeds := outcome.Seeds{First: first, Last: first + uint64(p.Runs) - 1}
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
		if t.CPU >= p.CPU {
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
