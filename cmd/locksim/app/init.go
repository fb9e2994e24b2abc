package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/starter"
)

func initCommand(s *shell) *cobra.Command {
	var f starter.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a test of your own lock into your module",
		Long: `Init writes what a test of your own lock needs into the module in the working
directory: locksimtest/lock.go with an adapter, which stands for a small lock on Redis
until you put yours there, lock_test.go, sim/main.go with the command locksim for your
lock, and a .gitignore for what the tests leave behind. In go.mod it requires locksim, replaces it by the checkout from which this program was
built, and sets godebug randseednop=0, so that a seed decides math/rand too. It changes
no other file, and overwrites none.

With --ci it also writes a workflow for GitHub, which keeps what the tests find as
artifacts, and shows its diagram in the summary of the job.

With --module it makes a new module of that path first. With --overlay the tests run
with the build overlay, for libraries that take their time, connections and random
numbers from Go and not from locksim: see locksim overlay --help. With --topology
sentinel three Sentinels watch the Redis of the lock and two replicas, and its client
is a redis.NewFailoverClient that asks them for the primary. With --topology cluster the
lock is in a Redis Cluster of six nodes, and its client is a redis.NewClusterClient.

With --fence it writes a test of a fence in place of that of a lock: of a protected store
that refuses writes by fencing tokens, on Redis or, with --topology postgres, on PostgreSQL.`,
		Example: `  locksim init
  locksim init --lock stock-lock
  locksim init --module example.org/you/lock
  locksim init --ci
  locksim init --overlay
  locksim init --topology sentinel
  locksim init --topology cluster
  locksim init --fence stock-fence --topology postgres`,
		Args: exactly(0, "no arguments; run it in the folder of your go.mod"),
		RunE: func(*cobra.Command, []string) error { return initModule(s, f, asJSON) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema init")
	flags.StringVar(&f.Module, "module", "", "make a module of this `PATH` in a folder without go.mod")
	flags.StringVar(&f.Lock, "lock", "", "reports call the lock `NAME` (default: the last word of the module's path)")
	flags.StringVar(&f.Fence, "fence", "", "write a test of a fence, which reports call `NAME`, in place of one of a lock")
	flags.StringVar(&f.Checkout, "checkout", "", "the checkout of locksim is in `DIR` (default: the one from which this "+
		"program was built)")
	flags.BoolVar(&f.CI, "ci", false, "also write a workflow for GitHub")
	flags.BoolVar(&f.Overlay, "overlay", false, "run the tests with the build overlay")
	flags.StringVar(&f.Topology, "topology", starter.Node, "the `TOPOLOGY` of Redis: node, sentinel or cluster; "+
		"for a fence node or postgres")
	return cmd
}

func initModule(s *shell, o starter.Options, asJSON bool) error {
	done, err := starter.Write(o)
	if err != nil {
		return err
	}
	what := "lock"
	if o.Fence != "" {
		what = "fence"
	}
	explore := fmt.Sprintf("go run ./locksimtest/sim explore --%s %s --out found", what, done.Lock)
	if done.Vendored {
		s.Note("the module has a folder vendor, which has no locksim yet: go mod vendor")
	}
	if asJSON {
		return s.PrintJSON(Written{Files: done.Files, Test: done.Test, Explore: explore})
	}
	_, err = fmt.Fprintf(s.Out, `wrote %s

%s
    passes with the %s that is there; put your own into locksimtest/%[3]s.go
%s
    searches on, and writes pages of what it finds
`, strings.Join(done.Files, ", "), done.Test, what, explore)
	return s.Print(err)
}
