package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/play"
)

// replayFlags are the flags of the replay command.
type replayFlags struct {
	mode  string
	until int
	json  bool
}

func (s runs) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Make a stored run again and confirm that it is the same",
		Long: `Replay makes a run again that "locksim run --out DIR" has stored in DIR/run.json,
and confirms each figure of it and the hash of each trace. A run that comes out
differently ends with exit code 3.

With --mode and --until-step it stops at a step of the trace instead, and prints
the world there: who holds the lock and who believes so, the keys of each Redis
node with what they have left to live, and the bytes in flight.`,
		Example: `  locksim run gc-pause --out /tmp/run
  locksim replay /tmp/run/run.json
  locksim replay /tmp/run/run.json --mode check --until-step 404`,
		Args: exactly(1, "one file, such as DIR/run.json"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return s.replay(args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "", "fencing `MODE` of the run to stop")
	flags.IntVar(&f.until, "until-step", 0, "stop after step `N` of the trace and print the world")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	s.completeFlags(cmd)
	return cmd
}

// validate refuses one half of a moment, and a step that no trace has.
func (f replayFlags) validate() error {
	switch {
	case f.mode == "" && f.until != 0:
		return fmt.Errorf("--until-step %d: say in which run as well, with --mode", f.until)
	case f.mode != "" && f.until < 1:
		return fmt.Errorf("--mode %s: say where to stop as well, with --until-step and a number from 1", quote(f.mode))
	}
	return nil
}

func (s runs) replay(name string, f replayFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	r, err := readRecording(name)
	if err != nil {
		return err
	}
	if f.mode != "" {
		return s.inspect(r, f)
	}
	return s.again(r, f)
}

// again makes the run again and confirms it.
func (s runs) again(r *recording, f replayFlags) error {
	o, err := s.replayed(r)
	if err != nil {
		return r.failed(err, s.command()+" replay "+quote(r.name))
	}
	if f.json {
		return s.printJSON(play.NewRunFile(o))
	}
	opt := reports.Options{Colour: s.colour(isTerminal), Repeat: play.Twice}
	return s.print(terminal.Replayed(s.out, o, opt))
}

func (s runs) replayed(r *recording) (*play.Outcome, error) {
	defer s.busy(fmt.Sprintf("replaying %s with seed %d", r.run.Scenario, r.run.Seed))()
	return r.run.Replay(s.extra, play.Twice)
}
