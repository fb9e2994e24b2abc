package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/overlay"
)

func overlayCommand(s *shell) *cobra.Command {
	var f overlayFlags
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

The files depend on the version of Go: run the command again after an update. Where they
do not fit a version, since a place that they change is not there, it ends with an error.

A Go that was fetched since go.mod or GOTOOLCHAIN asks for it is in the module cache,
where go build refuses to replace files. With --copy-go the command copies it once, and
prints the folder of the copy instead; of another Go it prints the folder. Put its bin
first in PATH, as in the last example.`,
		Example: `  go test $(locksim overlay) ./...
  go run $(locksim overlay) . explore --lock mine
  go build $(locksim overlay) -o mysim .
  export PATH="$(locksim overlay --copy-go)/bin:$PATH"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print one JSON document; see locksim schema overlay")
	flags.StringVar(&f.dir, "dir", "", "write the files into a folder in `DIR` (default: the user's cache)")
	flags.BoolVar(&f.copyGo, "copy-go", false, "print the folder of the Go, copied out of the module cache if it is there")
	return cmd
}

// overlayFlags are the flags of the overlay command.
type overlayFlags struct {
	json   bool
	dir    string
	copyGo bool
}

func (f overlayFlags) run(ctx context.Context, s *shell) error {
	dir, err := f.folder()
	if err != nil {
		return err
	}
	found, err := overlay.Find(ctx)
	if err != nil {
		return err
	}
	if err := outfile.PrepareFolder("dir", dir); err != nil {
		return err
	}
	if f.copyGo && found.Cached() {
		if found, err = overlay.Copy(dir, found); err != nil {
			return fmt.Errorf("copy %s out of the module cache: %w: name another folder with --dir", found.GOVERSION, err)
		}
	}
	path, err := overlay.Make(dir, found)
	if errors.Is(err, overlay.ErrCached) {
		return fmt.Errorf("%w: copy it once, put the copy first in PATH, and run this again:\n"+
			"  export PATH=\"$(locksim overlay --copy-go)/bin:$PATH\"", err)
	}
	if err != nil {
		return err
	}
	line := "-overlay=" + path
	if f.json {
		return s.PrintJSON(Overlaid{Flag: line, File: path, GOROOT: found.GOROOT})
	}
	if f.copyGo {
		line = found.GOROOT
	}
	_, err = fmt.Fprintln(s.Out, line)
	return s.Print(err)
}

// folder is where the files go.
func (f overlayFlags) folder() (string, error) {
	dir := f.dir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w: name a folder with --dir", err)
		}
		dir = filepath.Join(cache, "locksim", "overlay")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(dir, " \t\n") {
		return "", fmt.Errorf("the folder %q has a space in its name, at which $(locksim overlay) would be split: name "+
			"another one with --dir", dir)
	}
	return dir, nil
}
