package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/reports"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/replay"
	"locksim/scenarios/search"
)

// testFolder is the package that init writes.
const testFolder = "locksimtest"

func pinCommand(s *shell) *cobra.Command {
	var into string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pin FILE|DIR",
		Short: "Keep a failure as a test that stays",
		Long: `Pin makes a stored run in which a lock fails again, such as the found-1.json of an
exploration or one from the artifact of a CI job, and stores it where the tests of this
lock look first, with its page. Commit it: every later go test plays it before it searches
on. When the lock is mended the test moves it into the folder fixed beside it, goes on to
play it silently, and fails if it breaks the lock again.

It takes the program that has your lock: locksim init writes it.`,
		Example: `  locksim pin found/found-1.json
  locksim pin found/found-1.json --into ./mylock`,
		Args: exactly(1, "one file or folder, such as found/found-1.json"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return pin(s, args[0], into, asJSON) },
	}
	flags := cmd.Flags()
	flags.StringVar(&into, "into", testFolder, "the package with the test of the lock is in `DIR`")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema init")
	return cmd
}

func pin(s *shell, name, into string, asJSON bool) error {
	if tests, err := filepath.Glob(filepath.Join(globLiteral.Replace(into), "*_test.go")); err != nil || len(tests) == 0 {
		return fmt.Errorf("--into %s: there is no test in it: name the folder of the package that tests the lock",
			console.Quote(into))
	}
	r, err := readRecording(name)
	if err != nil {
		return err
	}
	command := s.Command() + " pin " + console.Quote(name)
	sc, l, err := replay.Setup(r.run, s.Extra)
	if err != nil {
		return r.failed(err, "replay", command)
	}
	if why := search.Untried(l, r.run, sc); why != "" {
		return fmt.Errorf("%s: a test of lock %s would not try this run: %s: pin what locksim explore --lock %[2]s "+
			"--promise finds", console.Quote(name), l.Name, why)
	}
	o, err := replayed(s, r)
	mended := ""
	if _, differs := errors.AsType[*outcome.ReplayError](err); differs {
		if mended = r.run.Mended(outcome.NewRunFile(o)); mended != "" {
			err = nil
		}
	}
	if err != nil {
		return r.failed(err, "replay", command)
	}
	judged := r.run.Modes[l.JudgedMode()].Verdict
	files, err := pinned(*r.run, o, search.StoredName(r.run, judged, sc), into)
	if err != nil {
		return &console.BrokenError{Cause: err}
	}
	dir := filepath.Join(into, filepath.FromSlash(search.StoredDir))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--into %s: %w: give a folder that can be written to", console.Quote(into), err)
	}
	var names []string
	for _, f := range files {
		fixed := filepath.Join(dir, "fixed", f.Name)
		if _, err := os.Stat(fixed); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: the test plays it, and it does not break the lock any more", fixed)
		}
		names = append(names, filepath.Join(dir, f.Name))
	}
	if err := outfile.WriteAll(dir, files); err != nil {
		return fmt.Errorf("--into %s: %w: give a folder that can be written to", console.Quote(into), err)
	}
	if mended != "" {
		s.Note(mended)
	}
	if asJSON {
		return s.PrintJSON(Written{Files: names, Test: testCommand(into)})
	}
	_, err = fmt.Fprintf(s.Out, "%s\n\n%s\n    plays it first; commit it\n", strings.Join(names, "\n"), testCommand(into))
	return s.Print(err)
}

// testCommand is the command that runs the tests of a package in a folder.
func testCommand(folder string) string {
	folder = filepath.ToSlash(filepath.Clean(folder))
	if !path.IsAbs(folder) && !strings.HasPrefix(folder, "..") && folder != "." {
		folder = "./" + folder
	}
	return "go test -count=1 " + console.Quote(folder)
}

// pinned are the files of a failure as a test stores them: the run, which every test of the lock tries, its page, its
// Markdown and its record.
func pinned(run outcome.RunFile, o *outcome.Outcome, name, into string) ([]outfile.Document, error) {
	run.Test = ""
	text, err := run.JSON()
	if err != nil {
		return nil, err
	}
	opt := reports.Options{Replay: testCommand(into)}
	base := strings.TrimSuffix(name, ".json")
	html, err := runfiles.Page(o, opt)
	if err != nil {
		return nil, err
	}
	html.Name = base + ".html"
	md, err := runfiles.Markdown(base+".md", o, opt)
	if err != nil {
		return nil, err
	}
	files := []outfile.Document{html, md}
	// of a lock that is mended, it is another run's
	if record, err := records.Of("", o); err != nil || !record.IsOf(&run) {
		return append(files, outfile.Document{Name: name, Data: text}), err
	}
	record, err := records.File(o)
	return append(files, outfile.Document{Name: records.Beside(name), Data: record},
		outfile.Document{Name: name, Data: text}), err
}
