package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/overlay"
)

func overlayCommand(s *shell) *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "overlay",
		Short: "Make a build overlay for libraries without changes",
		Long: `Overlay makes a build overlay of Go's standard library, from the Go that is
installed here, and prints the flag that makes go build, go run and go test use it.
In a program that is built with it, each process of a simulated world has its own
clocks, network and random numbers in all code that it runs, also in libraries that
know nothing of locksim:

  time.Now        the wall clock and the monotonic clock of the process, which jump
                  and drift
  timers          by the clock of the process, at its rate when they begin; the
                  functions of time.AfterFunc, and what follows time.Sleep, wait while
                  the process is paused
  net.Dialer      dials the servers of the world by their addresses; any other socket
                  ends the run with an error
  random numbers  math/rand, math/rand/v2 and crypto/rand have a seeded source for
                  each process, also for code that has kept a reader since its start
  files           of a server that writes real ones, what File.Sync and O_SYNC have put
                  on the disk is known, so that its machine can lose its power
  select          of several cases that are ready the choice depends on the time and
                  the place, and is the same in each run

Out of its reach are: channels of timers of a paused process, which are not late;
timers that have begun before the rate of a clock changes; the timers of a slow
process; the order of a map, and that of goroutines that run at once; look-ups of
names by net.Resolver; goroutines that no process has started.

The first build compiles the standard library anew, which takes a minute or two; the
next ones are as fast as without it. Outside a simulated world such a program behaves
as usual, but it is for tests only.

The files depend on the version of Go: run the command again after an update. It is
tested with ` + strings.Join(overlay.Supported(), " and ") + `; where it does not fit a version, it ends with an error.`,
		Example: `  go test $(locksim overlay) ./...
  go run $(locksim overlay) . explore --lock mine
  go build $(locksim overlay) -o mysim .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				cache, err := os.UserCacheDir()
				if err != nil {
					return fmt.Errorf("%w: name a folder with --dir", err)
				}
				dir = filepath.Join(cache, "locksim", "overlay")
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			if strings.ContainsAny(dir, " \t\n") {
				return fmt.Errorf("the folder %q has a space in its name, at which $(locksim overlay) would be split: name another one with --dir", dir)
			}
			found, err := overlay.Find(cmd.Context())
			if err != nil {
				return err
			}
			if err := outfile.PrepareFolder("dir", dir); err != nil {
				return err
			}
			path, err := overlay.Make(dir, found)
			if err != nil {
				return err
			}
			if asJSON {
				return s.PrintJSON(Overlaid{Flag: "-overlay=" + path, File: path})
			}
			_, err = fmt.Fprintln(s.Out, "-overlay="+path)
			return s.Print(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema overlay")
	cmd.Flags().StringVar(&dir, "dir", "", "write the files into a folder in `DIR` (default: the user's cache)")
	return cmd
}
