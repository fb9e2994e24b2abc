package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/book"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// liveTimes is how often each is played live, liveTogether how many are played at once: more would make the machine
// late.
const (
	liveTimes    = 3
	liveTogether = 2
)

// liveRun is a scenario, or the smallest schedule of a failure, on real servers.
type liveRun struct {
	Lock, Trouble string
	// What is the name of the scenario of the library, or what was broken; Source its text where it is a schedule.
	What, Source string
	// Labels are those of the live runs by mode, Simulated those of the simulated one where they differ.
	Labels map[fence.Mode][]checker.Label
	// Expected says that no run ended as no seed of the simulated world does, without an explanation. Why are the
	// explanations.
	Expected bool
	Why      []string
	// Refused says why it was not played.
	Refused string
	// Load is the mean number of processes that ran or were due in the minute before. Late says by how many seconds the
	// machine was late at most, where no run of [again] was in time; 0 if all that count were.
	Load, Late float64 `json:",omitempty"`
}

// again is how often a run is made at most in which the machine was late by more than the scenario can bear.
const again = 3

// liveScenarios are the scenarios of the library that are played live, by trouble. Those in redisOnly have faults of
// Redis.
var liveScenarios = map[string]string{
	"pause": "gc-pause", "process": "holder-crash", "network": "partition-holder", "clocks": "wall-clock-jump",
	"refusals": "script-flush", "server-crash": "process-crash-everysec", "failover": "failover-before-replication",
	"server-clocks": "redis-clock-ahead", "lost-data": "flushall",
}

var redisOnly = []string{"refusals", "server-crash", "failover", "server-clocks", "lost-data"}

// measureLive plays live what was not yet: a scenario for each trouble, the smallest schedule of each broken promise,
// and the scenarios that show a finding.
func (t *table) measureLive(name string, program *book.Program, s libraries.Sheet) error {
	var jobs []func() error
	var failed error
	add := func(l libraries.LockSheet, r liveRun, seed uint64) {
		_, ok, err := t.stored.Kept(liveKey(name, s.Version, l, r.Trouble, r.What, r.Source))
		if failed = errors.Join(failed, err); ok {
			return
		}
		jobs = append(jobs, func() error {
			if err := t.playLive(program, l, &r, seed); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s %s live, %s: %v %s\n", l.Name, r.Trouble, r.What, r.Labels, r.Refused)
			return t.add(program, record{Library: name, Version: s.Version, Judged: judged(l), Live: &r})
		})
	}
	for _, l := range s.Locks {
		if !l.Live {
			continue
		}
		for _, f := range s.Findings {
			for _, x := range f.Shows {
				if x.Lock == l.Name {
					add(l, liveRun{Lock: l.Name, What: f.ID, Source: x.Source}, 1)
				}
			}
		}
		redis := slices.ContainsFunc(l.Servers, func(kind string) bool { return strings.HasSuffix(kind, " redis") })
		for _, trouble := range libraries.Troubles() {
			scenario, ok := liveScenarios[trouble.Name]
			if ok && (redis || !slices.Contains(redisOnly, trouble.Name)) {
				add(l, liveRun{Lock: l.Name, Trouble: trouble.Name, What: scenario}, 1)
			}
			c, ok := t.cellOf(name, s.Version, l, trouble)
			if !ok {
				continue
			}
			for _, f := range promisedFailures(&c.Cell.Cell) {
				if f.Source != "" {
					add(l, liveRun{Lock: l.Name, Trouble: trouble.Name, What: f.What, Source: f.Source}, f.Played)
				}
			}
		}
	}
	return errors.Join(failed, book.Do(liveTogether, jobs))
}

// promisedFailures are those of a cell under faults for which the lock promises something.
func promisedFailures(c *libraries.Cell) (out []libraries.Failure) {
	for _, s := range c.Shares {
		if s.Promised {
			out = append(out, s.Failures...)
		}
	}
	return out
}

// liveOf is the live run of a lock as it is used and judged now.
func (t *table) liveOf(name, version string, l libraries.LockSheet, trouble, what, source string) (record, bool) {
	return t.stored.Latest(liveKey(name, version, l, trouble, what, source))
}

func liveKey(name, version string, l libraries.LockSheet, trouble, what, source string) key {
	return key{name, version, judged(l), l.Name, trouble, what, source}
}

// playLive makes the runs, each anew while the machine is late. Those that count are the last ones.
func (t *table) playLive(program *book.Program, l libraries.LockSheet, r *liveRun, seed uint64) error {
	scenario := r.What
	if r.Source != "" {
		dir, err := os.MkdirTemp(t.programs.Dir, "live-")
		if err != nil {
			return err
		}
		scenario = filepath.Join(dir, "schedule.yaml")
		if err := os.WriteFile(scenario, []byte(r.Source), 0o644); err != nil {
			return err
		}
	}
	args := []string{"run", scenario, "--lock", l.Name, "--live", "--json", "--seed", strconv.FormatUint(seed, 10),
		"--fencing", "none"}
	if l.Tokens {
		args[len(args)-1] = "none,seal"
	}
	scale := "0.5"
	if !l.FollowsSpec { // its lease has a length of its own
		scale = "1"
	}
	args = append(args, "--scale", scale)
	r.Expected, r.Labels, r.Load = true, map[fence.Mode][]checker.Label{}, load()
	for range liveTimes {
		var f outcome.RunFile
		late := 0.0
		for range again {
			f = outcome.RunFile{}
			_, err := book.Ask(&f, program.File, args...)
			if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 2 {
				_, said, _ := strings.Cut(err.Error(), "\n")
				r.Refused, _, _ = strings.Cut(said, "\n")
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s %s live: %w", l.Name, r.What, err)
			}
			if late, err = lateness(&f); err != nil {
				return fmt.Errorf("%s %s live: %w", l.Name, r.What, err)
			}
			if late == 0 {
				break
			}
		}
		r.Late = max(r.Late, late)
		r.Expected = r.Expected && f.Expected
		for mode, m := range f.Modes {
			r.Labels[mode] = append(r.Labels[mode], m.Verdict)
		}
		if f.Live != nil {
			for _, d := range f.Live.Differences {
				if d.Why != "" && !slices.Contains(r.Why, d.Why) {
					r.Why = append(r.Why, d.Why)
				}
			}
		}
	}
	return nil
}

// lateness says by how many seconds the machine was late in a live run, where that is more than the scenario can bear;
// else 0.
func lateness(f *outcome.RunFile) (seconds float64, err error) {
	sc, err := file.Parse(f.File, []byte(f.Source))
	if err != nil || f.Live == nil {
		return 0, err
	}
	limit := live.Scaled(sc, f.Live.Scale).LateLimit().Seconds()
	for _, m := range f.Modes {
		if m.LateSeconds > limit {
			seconds = max(seconds, m.LateSeconds)
		}
	}
	return seconds, nil
}

// load is the mean number of processes that ran or were due in the last minute; 0 if the system does not tell.
func load() (processes float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &processes)
	return processes
}
