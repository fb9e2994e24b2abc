package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"locksim/scenarios/play"
)

func (s *shell) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of locksim, of Go and of stored runs",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "locksim %s\n%s %s/%s\nstored runs of version %d\n",
				ownVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, play.RunVersion)
			return s.print(err)
		},
	}
}

func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version
}
