package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/works"
	"locksim/lock/fence"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
)

// matrixFlags are the flags of the matrix command.
type matrixFlags struct {
	campaignFlags
	liveFlag
	scenarios []string
	locks     []string
	fencing   string
	seeds     int
	from      uint64
	broken    bool
	own       bool
	markdown  bool
	csv       bool
	junit     string
	noRuns    bool
}

func matrixCommand(s *shell) *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run all scenarios with all locks under all fencing modes",
		Long: `Matrix runs each scenario of the library with each lock that the scenario is
about, under each fencing mode, with a number of seeds, and shows the worst label
of each cell. The runs are divided among child processes, one per core.

The exit code is 1 when a cell differs from what its scenario expects, or when it has
tested nothing: no two clients wanted the lock at once, or a fault never struck. What a
scenario expects holds for the seeds 1 to 20: no seed may end worse, and if all of them
are run, at least one must end as badly. The command lists each difference with the
command that replays it. It leaves out, and lists, the scenarios that a lock of your own
cannot play, and those with a fault at a step that this lock never takes.

With 100 seeds or more, and at most 40 cells, it also says in what share of the runs two
clients had the lock at once, and an update was lost, each with an interval.

With --out, DIR/index.html is the table with filters. It links to a page for each lock
and each scenario, and from each cell to the report of the first run with its label.
The reports of the whole library take half as much time as its matrix, and 80 MB;
--no-runs leaves them out.

With --out each result is also stored as soon as it is known, and --resume continues
after an interruption. The runs can be divided: --shard 0/8 to 7/8 make them on eight
machines, and "locksim merge" combines them into the matrix.

With --live each pair is also played on real servers, in real time, and the table says
where both worlds agree; see docs/how-to/live.md. The exit code is 1 when they differ in a cell
and nothing explains it. A run takes some seconds, and --workers of them are made at once.`,
		Example: `  locksim matrix
  locksim matrix --scenario 'late-*,gc-pause' --lock 'redlock*' --seeds 5
  locksim matrix --scenario ./my.yaml --fencing none,seal
  locksim matrix --scenario redlock-restart --fencing none --seeds 1000
  locksim matrix --broken --json
  locksim matrix --markdown >reports/MATRIX.md
  locksim matrix --csv >matrix.csv
  locksim matrix --out /tmp/matrix      then open /tmp/matrix/index.html
  locksim matrix --out /tmp/matrix --resume
  locksim matrix --shard 0/2 --out /tmp/parts
  locksim matrix --live --scenario gc-pause --lock fenced,single
  locksim matrix --junit result.xml`,
		Args: exactly(0, "no arguments; name scenarios with --scenario"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkLive(cmd.Flags()); err != nil {
				return err
			}
			if f.live {
				return f.runLive(s, !cmd.Flags().Changed("fencing"))
			}
			return f.run(s)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 20, "`N` seeds for every cell")
	flags.Uint64Var(&f.from, "from-seed", 1, "the first seed is `N`")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "only these `SCENARIOS`, with commas: names, patterns such as "+
		"'late-*', files")
	flags.StringArrayVar(&f.locks, "lock", nil, "only these `LOCKS`, with commas: names, or patterns such as 'redlock*' "+
		"and 'broken/*'")
	flags.StringVar(&f.fencing, "fencing", runfiles.JoinModes(fence.Modes()), "fencing `MODES`, with commas")
	flags.BoolVar(&f.broken, "broken", false, "also the locks that are wrong on purpose")
	flags.BoolVar(&f.own, "own", false, "play each scenario only with the lock that its file names")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.BoolVar(&f.csv, "csv", false, csvUsage)
	flags.StringVar(&f.out, "out", "", "store the results in `DIR`, and write index.html with its pages, matrix.json, "+
		"matrix.csv, matrix.txt and MATRIX.md")
	flags.BoolVar(&f.noRuns, "no-runs", false, "with --out: leave out the reports of the runs that the cells lead to")
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.StringVar(&f.junit, "junit", "", "also write JUnit XML into `FILE`: a test case for each cell")
	f.campaignFlags.add(flags)
	f.liveFlag.add(flags, "play each pair on real servers too, and compare both worlds", comparedScale, 5,
		"live runs of each pair")
	completion{s.Roster}.flags(cmd)
	return cmd
}

func (f matrixFlags) run(s *shell) error {
	if err := f.oneForm(); err != nil {
		return err
	}
	if f.noRuns && f.out == "" && !f.keep {
		return errors.New("--no-runs: this flag is about the pages that --out DIR writes: add --out, or leave it out")
	}
	shard, err := f.campaignFlags.check(s.Getenv)
	if err == nil {
		err = f.wholeOnly(shard, works.MatrixKind, f.forWhole()...)
	}
	if err != nil {
		return err
	}
	plan, err := f.plan(s)
	if err != nil {
		return err
	}
	if err := outfile.PrepareFile("junit", f.junit); err != nil {
		return err
	}
	w := &works.Matrix{Console: s.Console, Plan: plan, Asked: f.asked(), JUnit: f.junit, NoRuns: f.noRuns}
	return publish.Run(s.Console, f.options(shard, publish.NewFolder(f.keep, f.out, works.MatrixKind), f.form()),
		[]publish.Work{w}, nil)
}

// form is the form in which the matrix is printed.
func (f matrixFlags) form() publish.Form {
	switch {
	case f.markdown:
		return publish.AsMarkdown
	case f.csv:
		return publish.AsCSV
	}
	return f.campaignFlags.form()
}

// oneForm refuses two forms at once.
func (f matrixFlags) oneForm() error {
	switch {
	case f.json && f.markdown:
		return errors.New("--json and --markdown: choose one; --out writes both")
	case f.csv && (f.json || f.markdown):
		return errors.New("--csv and another form: choose one; --out writes JSON and Markdown")
	}
	return nil
}

// forWhole are the flags that need the whole matrix, by their names.
func (f matrixFlags) forWhole() (asked []string) {
	for _, flag := range []struct {
		name string
		on   bool
	}{{"--json", f.json}, {"--markdown", f.markdown}, {"--csv", f.csv}, {"--junit", f.junit != ""},
		{"--no-runs", f.noRuns}} {
		if flag.on {
			asked = append(asked, flag.name)
		}
	}
	return asked
}

// asked are the arguments that make the same matrix on any machine. They do not have
// --out and the like.
func (f matrixFlags) asked() string {
	words := []string{"matrix", "--seeds", fmt.Sprint(f.seeds)}
	if f.from != 1 {
		words = append(words, "--from-seed", fmt.Sprint(f.from))
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"--scenario", f.scenarios}, {"--lock", f.locks}} {
		for _, v := range list.values {
			words = append(words, list.flag, console.Quote(v))
		}
	}
	if f.fencing != runfiles.JoinModes(fence.Modes()) {
		words = append(words, "--fencing", console.Quote(f.fencing))
	}
	if f.broken {
		words = append(words, "--broken")
	}
	if f.own {
		words = append(words, "--own")
	}
	return strings.Join(words, " ")
}

func (f matrixFlags) plan(s *shell) (*matrix.Plan, error) {
	modes, err := parseModes(f.fencing)
	if err != nil {
		return nil, err
	}
	seeds, err := outcome.NewSeeds(f.from, f.seeds)
	if err != nil {
		return nil, fmt.Errorf("--seeds %d --from-seed %d: %w", f.seeds, f.from, err)
	}
	chosen, err := s.ChooseScenarios(f.scenarios)
	if err != nil {
		return nil, err
	}
	return matrix.NewPlan(matrix.Options{
		Scenarios: chosen, Locks: roster.SplitList(f.locks), Specimens: f.broken, Own: f.own, Modes: modes, Seeds: seeds,
		Extra: s.Extra,
	})
}
