package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/campaign"
)

// mergeFlags are the flags of the merge command.
type mergeFlags struct {
	crewFlags
	noRuns bool
}

func mergeCommand(s *shell) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FILE|DIR...",
		Short: "Combine the results of shards",
		Long: `Merge combines the results of the shards of one exploration, sweep, matrix or
review, and reports them as if one command had made all runs. In a folder it finds the
results of all shards, also of those that are still running. A file is a journal of
results, or what explore or sweep printed with --json.

Results of different plans are an error, and so are two results that contradict each
other. Merge combines results of several locks lock by lock. It examines the violations
that no shard has examined, and writes the pages of runs.

The exit code is that of the command whose shards they are. It is also 3 when results
are missing and no violation was found: then the work is not finished. A matrix or a
review needs all of its results.`,
		Example: `  locksim explore --lock redlock --shard 0/2 --out /tmp/redlock
  locksim explore --lock redlock --shard 1/2 --out /tmp/redlock
  locksim merge /tmp/redlock --out /tmp/redlock-all
  locksim matrix --shard 0/2 --out /tmp/parts; locksim matrix --shard 1/2 --out /tmp/parts
  locksim merge /tmp/parts --out /tmp/matrix`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes files or folders with results, such as those that explore --out has written: see "+
					"%[1]s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(s, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "also store the result in `DIR`")
	flags.BoolVar(&f.noRuns, "no-runs", false, "with --out: leave out the reports of the runs that the cells of a "+
		"matrix lead to")
	f.add(flags)
	completion{s.Roster}.flags(cmd)
	return cmd
}

func (f mergeFlags) run(s *shell, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	for _, name := range args {
		if err := scenarioInstead(name, "merge takes the results of shards, which are JSON"); err != nil {
			return err
		}
	}
	groups, err := campaign.ReadFiles(args, works.ResultNames)
	if err != nil {
		return err
	}
	o := publish.Options{Workers: f.workers, Quiet: f.quiet, Folder: publish.Folder{Dir: f.out}, Form: f.form()}
	return publish.Merge(s.Console, o, groups,
		func(r *campaign.Record) (publish.Work, error) { return works.Read(s.Console, s.Extra, r, f.noRuns) })
}
