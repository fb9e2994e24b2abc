package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"locksim/internal/campaign"
	"locksim/scenarios/explore"
	"locksim/scenarios/sweep"
)

// mergeFlags are the flags of the merge command.
type mergeFlags struct {
	out  string
	json bool
}

func (s merging) mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FILE|DIR...",
		Short: "Put together the results of shards",
		Long: `Merge puts together what the shards of one exploration or one sweep have found
out, and reports it as if one command had done it all. A file is what explore or
sweep printed with --json, or wrote into the folder of --out; a folder is searched
for such files, and for the journals of shards that are still at work.

Results of different plans are an error, and so are two results that contradict
each other. Results of several locks are put together lock by lock.

The exit code is that of explore: 0 when no violation was found, 1 when one was.
It is 3 when a run was not deterministic or came to no end, and when results are
missing and no violation was found: then the work is not done.`,
		Example: `  locksim explore --lock redlock --shard 0/2 --out /tmp/redlock
  locksim explore --lock redlock --shard 1/2 --out /tmp/redlock
  locksim merge /tmp/redlock --out /tmp/redlock-all`,
		Args: someResults,
		RunE: func(_ *cobra.Command, args []string) error { return s.merge(args, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "also keep the result in `DIR`")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report")
	s.completeFlags(cmd)
	return cmd
}

func someResults(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s takes files or folders with results, such as those that explore --out has written: see %[1]s --help", cmd.CommandPath())
	}
	return nil
}

// merge is the merge command.
func (s merging) merge(args []string, f mergeFlags) error {
	groups, err := readResults(args)
	if err != nil {
		return err
	}
	if err := prepare(f.out); err != nil {
		return err
	}
	pub := &publication{shell: s.shell, json: f.json}
	for _, group := range groups {
		all, err := campaign.Union(group...)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		dir := f.out
		if dir != "" && len(groups) > 1 {
			dir = filepath.Join(dir, strings.ReplaceAll(lockOf(all), "/", "-"))
		}
		done, err := s.merged(all, dir)
		if err != nil {
			return err
		}
		if err := pub.add(dir, done); err != nil {
			return err
		}
	}
	return pub.end()
}

// merged makes of results what is published.
func (s merging) merged(r *campaign.Record, dir string) (finished, error) {
	switch r.Kind {
	case explore.Kind:
		return s.mergedExploration(r, dir)
	case sweep.Name:
		return sweeps(s).mergedSweep(r, dir, runtime.GOMAXPROCS(0))
	}
	return finished{}, fmt.Errorf("%s has results of a kind %q that this version of locksim does not know", r.Name, r.Kind)
}

func (s merging) mergedExploration(r *campaign.Record, dir string) (finished, error) {
	plan, err := explore.ReadPlan(r.Plan)
	if err != nil {
		return finished{}, fmt.Errorf("%s: %w", r.Name, err)
	}
	blocks, err := decoded[explore.Block](r, plan.Jobs())
	if err != nil {
		return finished{}, err
	}
	e := explore.AssembleExploration(plan, blocks)
	e.Timing = explore.NewTiming()
	done := explorations(s).explored(e, dir, runtime.GOMAXPROCS(0), nil)
	if done.problem == nil {
		done.problem = missing(e.Missing)
	}
	return done, nil
}

// missing is the error of a result that is not complete.
func missing(jobs int) error {
	if jobs == 0 {
		return nil
	}
	return &brokenError{cause: fmt.Errorf("the result is not complete, without %d of its jobs: wait for their shards, or go on with these by --resume", jobs)}
}

// decoded are the results of a record.
func decoded[R any](r *campaign.Record, jobs int) (map[int]R, error) {
	all := map[int]R{}
	for i, raw := range r.Results {
		var result R
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, fmt.Errorf("%s: job %d: this is no result: %w", r.Name, i, err)
		}
		if i >= jobs {
			return nil, fmt.Errorf("%s: there is no job %d: the plan has %d", r.Name, i, jobs)
		}
		all[i] = result
	}
	return all, nil
}
