package app

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:         s.Program,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: s.Command()},
		Version:     s.versions(),
		Short:       "Run distributed locks in a virtual world full of faults",
		Long: `locksim runs real distributed-lock code, unmodified, in a deterministic virtual
world full of faults, and reports whether mutual exclusion held, what broke if it
did not, and whether a fence at the store would have protected the data.

Exit codes: 0 all as expected; 1 a run ended otherwise than expected, or a violation
was found; 2 bad usage or bad input; 3 locksim itself failed, or a run was not the same
when it was made again.`,
		Example: `  locksim list                 scenarios, locks, faults and fencing modes
  locksim compare              the locks side by side
  locksim run gc-pause         one scenario; start here
  locksim run ./my.yaml        your own scenario
  locksim matrix               all scenarios with all locks
  locksim explore --lock single
                               random schedules, until one breaks the lock`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return noEmptyFlag(cmd.Flags()) },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetArgs(append([]string{}, s.args...)) // never nil: for nil, cobra uses the arguments of the process
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(initCommand(s), listCommand(s), compareCommand(s), showCommand(s), runCommand(s), replayCommand(s),
		judgeCommand(s), pinCommand(s),
		reportCommand(s), matrixCommand(s), exploreCommand(s), sweepCommand(s), mergeCommand(s), schemaCommand(s),
		tuneCommand(s), overlayCommand(s), versionCommand(s), workerCommand(s), galleryCommand(s), serveCommand(s),
		playgroundCommand(s))
	speakOwnWords(s.Console, root)
	return root
}

// speakOwnWords makes the help of a command and of its commands name this program.
func speakOwnWords(s *console.Console, cmd *cobra.Command) {
	cmd.Long, cmd.Example = s.InOwnWords(cmd.Long), s.InOwnWords(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = s.InOwnWords(f.Usage) })
	for _, c := range cmd.Commands() {
		speakOwnWords(s, c)
	}
}

// noSuchCommand returns an error for a word that is not a command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("there is no command %q: %s", args[0], prose.Choose(args[0], names))
}

// seedFlags are the flags for a seed: a command that makes one run has the one, and a command that makes many the
// other.
var seedFlags = map[string]string{"seed": "from-seed", "from-seed": "seed"}

// flagError adds a hint to an error about a flag.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near := prose.Nearest(unknown.GetSpecifiedName(), names)
		if other := seedFlags[unknown.GetSpecifiedName()]; slices.Contains(names, other) {
			near = other
		}
		if near != "" {
			hint = fmt.Sprintf("did you mean --%s? Or %s", near, hint)
		}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := wrong.GetFlag()
		if takes, ok := errors.AsType[searchflags.RangeError](err); ok {
			return fmt.Errorf("--%s %s: %w", flag.Name, console.Quote(wrong.GetValue()), takes)
		}
		return fmt.Errorf("--%s %s: this is not %s: %s", flag.Name, console.Quote(wrong.GetValue()), kindOf(flag), hint)
	}
	return fmt.Errorf("%w: %s", err, hint)
}

// kindOf describes the values that a flag takes.
func kindOf(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "uint64":
		return "a whole number from 0 to 18446744073709551615"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	}
	if kind := flag.Value.Type(); strings.HasPrefix(kind, "one of ") {
		return kind
	}
	return "a " + flag.Value.Type()
}

// noEmptyFlag refuses a flag with an empty value, which is mostly a variable of the shell that
// is not set: without it, --out "$DIR" would store nothing.
func noEmptyFlag(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch {
		case err != nil:
		case slices.Contains(values, ""):
			err = fmt.Errorf("--%s '': the value is empty, as from a variable that is not set: give a value, or leave the "+
				"flag out", f.Name)
		case f.Value.Type() == "stringArray" && slices.ContainsFunc(values, hasGap):
			err = fmt.Errorf("--%s %s: there is no name before or after a comma: give one, or leave the comma out", f.Name,
				console.Quote(strings.Join(values, ",")))
		case f.Name == "workers" && f.Value.String() == "0":
			err = fmt.Errorf("--workers 0: %s", workersHint)
		}
	})
	return err
}

// hasGap reports whether a list with commas has an empty name.
func hasGap(list string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(name string) bool { return strings.TrimSpace(name) == "" })
}

func versionCommand(s *shell) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of locksim, of Go and of stored runs",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return s.PrintJSON(s.version())
			}
			_, err := fmt.Fprint(s.Out, s.versions())
			return s.Print(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema version")
	return cmd
}

func (s *shell) version() Version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	v := Version{Program: s.Program, Version: cmp.Or(info.Main.Version, unknownVersion), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Runs: outcome.RunVersion}
	for _, m := range info.Deps {
		if m.Path == console.OwnModule() {
			v.Locksim = cmp.Or(m.Version, unknownVersion)
		}
	}
	for _, set := range info.Settings {
		switch set.Key {
		case "vcs.revision":
			v.Commit = set.Value
		case "vcs.modified":
			v.Modified = set.Value == "true"
		}
	}
	return v
}

// unknownVersion is the version of a program that was built without one.
const unknownVersion = "(unknown version)"

// versions are those of the program, of locksim if that is another module, of Go, and of
// stored runs.
func (s *shell) versions() string {
	var b strings.Builder
	v := s.version()
	fmt.Fprintf(&b, "%s %s\n", v.Program, v.Version)
	switch {
	case v.Modified:
		fmt.Fprintf(&b, "commit %s, with changes\n", v.Commit)
	case v.Commit != "":
		fmt.Fprintf(&b, "commit %s\n", v.Commit)
	}
	if v.Locksim != "" {
		fmt.Fprintf(&b, "%s %s\n", console.OwnModule(), v.Locksim)
	}
	fmt.Fprintf(&b, "%s %s\nstored runs of version %d\n", v.Go, v.Platform, v.Runs)
	return b.String()
}
