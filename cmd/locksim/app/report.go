package app

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
)

func (s *shell) reportCommand() *cobra.Command {
	var review reviewFlags
	cmd := &cobra.Command{
		Use:   "report DIR | report --review --lock KIND",
		Short: "Write the page of a stored run again, or the review of a lock",
		Long: `Report repeats a run that "locksim run --out DIR" has stored in DIR/run.json,
confirms that it is the same, and writes DIR/report.html: one page that opens from
disk, with the verdicts, a space-time diagram of each fencing mode, the story step
by step, the evidence, and the command that repeats the run. DIR/report.md is a shorter
version for a pull request.

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
				return s.review(review)
			}
			return s.report(args[0])
		},
	}
	review.add(cmd.Flags())
	s.completeFlags(cmd)
	return cmd
}

// report is the report command.
func (s *shell) report(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: give the folder that holds run.json", console.Quote(dir))
	}
	r, err := readRecording(runFile(dir))
	if err != nil {
		return err
	}
	command := s.Command() + " report " + console.Quote(dir)
	o, err := s.replayed(r)
	if err != nil {
		return r.failed(err, command)
	}
	_, l, err := play.Setup(r.run, s.Extra)
	if err != nil {
		return r.failed(err, command)
	}
	html, err := pageFile(o, s.pageOptions(o, l, outcome.Twice))
	if err != nil {
		return &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", o.Seed), Replay: command}
	}
	md, err := markdownFile("report.md", o, s.markdownOptions(o, outcome.Twice))
	if err != nil {
		return &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", o.Seed), Replay: command}
	}
	if err := outfile.WriteAll(dir, []outfile.Document{html, md}); err != nil {
		return fmt.Errorf("%w: give a folder that can be written to", err)
	}
	_, err = fmt.Fprintln(s.Out, filepath.Join(dir, html.Name)+"\n"+filepath.Join(dir, md.Name))
	return s.Print(err)
}

// pageFile is a run as an HTML page.
func pageFile(o *outcome.Outcome, opt reports.Options) (outfile.Document, error) {
	var b bytes.Buffer
	if err := html.Run(&b, o, opt); err != nil {
		return outfile.Document{}, err
	}
	return outfile.Document{Name: "report.html", Data: b.Bytes()}, nil
}

// pageOptions are the options of the page of a run. They do not name the folder of the
// page, so that the page is the same in every folder.
func (s *shell) pageOptions(o *outcome.Outcome, l play.Lock, repeat outcome.Repeat) reports.Options {
	if o.Live != nil { // real servers have ended by then
		return reports.Options{Repeat: repeat, Replay: s.publicCommand(o), Versions: versions(o)}
	}
	return reports.Options{
		Repeat: repeat, Replay: s.publicCommand(o), Versions: versions(o),
		Inspect: func(mode fence.Mode, step int) (*outcome.State, error) {
			return play.Inspect(o.Scenario, l, o.Seed, mode, step)
		},
	}
}

// publicCommand is the command that repeats a run in any clone of locksim, or in a
// program with its own locks. It names a scenario that is not in the library by its file.
func (s *shell) publicCommand(o *outcome.Outcome) string {
	name := o.Scenario.File
	if bundled(o.Scenario) {
		name = o.Scenario.Name
	}
	var modes []fence.Mode
	for _, m := range o.Modes {
		modes = append(modes, m.Mode)
	}
	return fmt.Sprintf("%s run %s --lock %s --seed %d --fencing %s%s", s.PublicName(), console.Quote(name), console.Quote(o.Lock), o.Seed, joinModes(modes), liveFlags(o.Live))
}

// bundled reports whether a scenario is the same as the one of its name in the library.
func bundled(sc *file.Scenario) bool {
	own, err := file.Load(sc.Name)
	return err == nil && bytes.Equal(own.Source, sc.Source)
}

// versions are the versions for which the trace hashes of a run hold.
func versions(o *outcome.Outcome) []reports.Version {
	t := outcome.NewRunFile(o).Timing
	return versionsOf(t.Go, t.Modules)
}

// versionsOf are the version of Go and those of the modules, sorted by name.
func versionsOf(goVersion string, modules map[string]string) []reports.Version {
	out := []reports.Version{{Name: "Go", Version: strings.TrimPrefix(goVersion, "go")}}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		out = append(out, reports.Version{Name: module, Version: modules[module]})
	}
	return out
}
