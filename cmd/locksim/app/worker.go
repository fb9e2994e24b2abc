package app

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/campaign"
	"locksim/internal/child"
	"locksim/internal/workers"
)

// workerCommand is the command that the child processes run. It is hidden, since it is
// of no use to a user.
func workerCommand(s *shell) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Execute jobs from standard input",
		Long: "Worker executes the jobs of another locksim process, which starts it. It ends when\nits standard " +
			"input ends.",
		Hidden: true,
		Args:   exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(os.Interrupt) // Ctrl-C reaches the parent too, which ends its children
			_, answers := child.Parent()
			err := campaign.Serve(s.In, answers, works.Handlers(s.Console, s.Roster)...)
			switch {
			// the answer has the error already
			case err == nil, errors.Is(err, workers.ErrSpent), errors.Is(err, workers.ErrLast):
				return nil
			case errors.Is(err, workers.ErrBadRequest):
				return fmt.Errorf("worker: %w: only locksim itself calls it", err)
			}
			return &console.BrokenError{Cause: err}
		},
	}
}
