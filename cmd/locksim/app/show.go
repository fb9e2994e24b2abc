package app

import (
	"errors"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/roster"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
)

func showCommand(s *shell) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show SCENARIO|FILE.yaml",
		Short: "Print the file of a scenario",
		Long: `Show prints a scenario of the library as its YAML file, to read, or as the start of one
of your own. Given the path of a file, it checks that file and prints it.`,
		Example: `  locksim show gc-pause
  locksim show gc-pause >my.yaml; locksim run ./my.yaml`,
		Args:              exactly(1, "one scenario, by its name or its file"),
		ValidArgsFunction: completion{s.Roster}.scenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			sc, err := s.Load(args[0])
			if err != nil {
				return err
			}
			if err := hasLock(s.Roster, sc); err != nil {
				return err
			}
			if asJSON {
				return s.PrintJSON(Shown{Name: sc.Name, Title: sc.Title, Lock: sc.Lock.Kind, File: sc.File,
					Source: string(sc.Source)})
			}
			_, err = s.Out.Write(sc.Source)
			return s.Print(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema show")
	return cmd
}

// hasLock is the error of a scenario of the user whose lock.kind is no lock. One whose servers are not installed is a
// lock.
func hasLock(r roster.Roster, sc *file.Scenario) error {
	if sc.InLibrary() {
		return nil
	}
	_, err := r.FindSubject(sc, "", "")
	if _, missing := errors.AsType[*subject.MissingError](err); missing {
		return nil
	}
	return err
}
