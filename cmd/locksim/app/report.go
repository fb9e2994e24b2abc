package app

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/scenarios/outcome"
	"locksim/scenarios/replay"
)

func reportCommand(s *shell) *cobra.Command {
	var review reviewFlags
	cmd := &cobra.Command{
		Use:   "report DIR | report --review --lock KIND",
		Short: "Write the page of a stored run again, or the review of a lock",
		Long: `Report repeats a run that "locksim run --out DIR" has stored in DIR/run.json,
confirms that it is the same, and writes DIR/report.html: one page that opens from
disk, with the verdicts, a space-time diagram of each fencing mode, the story step
by step, what was checked, and the command that repeats the run. DIR/report.md is a
shorter version for a pull request.

` + reviewHelp,
		Example: `  locksim run gc-pause --out /tmp/run
  locksim report /tmp/run
  locksim report --review --lock fenced
  locksim report --review --lock redlock --runs 10000 --out /tmp/review
  locksim report --review --lock redlock --runs 10000 --out /tmp/review --resume`,
		Args: review.args,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if review.on {
				return review.run(s)
			}
			return reportRun(s, args[0], review.json)
		},
	}
	review.add(cmd.Flags())
	completion{s.Roster}.flags(cmd)
	return cmd
}

// reportRun is the report command.
func reportRun(s *shell, dir string, asJSON bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: give the folder that holds run.json", console.Quote(dir))
	}
	r, err := readRecording(runfiles.Path(dir))
	if err != nil {
		return err
	}
	command := s.Command() + " report " + console.Quote(dir)
	o, err := replayed(s, r)
	if err != nil {
		return r.failed(err, "replay", command)
	}
	_, l, err := replay.Setup(r.run, s.Extra)
	if err != nil {
		return r.failed(err, "replay", command)
	}
	html, err := runfiles.Page(o, runfiles.PageOptions(s.Console, o, l, outcome.Twice))
	if err != nil {
		return &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", o.Seed), Replay: command}
	}
	md, err := runfiles.Markdown("report.md", o, runfiles.MarkdownOptions(s.Console, o, outcome.Twice))
	if err != nil {
		return &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", o.Seed), Replay: command}
	}
	if err := outfile.WriteAll(dir, []outfile.Document{html, md}); err != nil {
		return fmt.Errorf("%w: give a folder that can be written to", err)
	}
	if asJSON {
		return s.PrintJSON(Written{Files: []string{filepath.Join(dir, html.Name), filepath.Join(dir, md.Name)}})
	}
	_, err = fmt.Fprintln(s.Out, filepath.Join(dir, html.Name)+"\n"+filepath.Join(dir, md.Name))
	return s.Print(err)
}
