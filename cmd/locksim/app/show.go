package app

import (
	"errors"

	"github.com/spf13/cobra"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

func (s *shell) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show SCENARIO|FILE.yaml",
		Short: "Print the file of a scenario",
		Long: `Show prints a scenario of the library as its YAML file, to read, or as the start of one
of your own. It checks the file of a scenario that is named by its path, and prints it.`,
		Example: `  locksim show gc-pause
  locksim show gc-pause >my.yaml; locksim run ./my.yaml`,
		Args:              exactly(1, "one scenario, by its name or its file"),
		ValidArgsFunction: s.completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			sc, err := s.Load(args[0])
			if err != nil {
				return err
			}
			if err := s.hasLock(sc); err != nil {
				return err
			}
			_, err = s.Out.Write(sc.Source)
			return s.Print(err)
		},
	}
}

// hasLock is the error of a scenario of the user whose lock.kind is no lock. One whose servers are not installed is a lock.
func (s *shell) hasLock(sc *file.Scenario) error {
	if sc.InLibrary() {
		return nil
	}
	_, err := s.FindLock(sc, "")
	if _, missing := errors.AsType[*play.MissingError](err); missing {
		return nil
	}
	return err
}
