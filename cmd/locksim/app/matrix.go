package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/matrix"
)

// matrixFlags are the flags of the matrix command.
type matrixFlags struct {
	scenarios []string
	locks     []string
	fencing   string
	seeds     int
	from      uint64
	broken    bool
	json      bool
	markdown  bool
	out       string
	keep      bool
	junit     string
	workers   int
	noRuns    bool
}

func (s matrices) matrixCommand() *cobra.Command {
	var f matrixFlags
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run all scenarios with all locks under all fencing modes",
		Long: `Matrix runs each scenario of the library with each lock that the scenario is
about, under each fencing mode, with a number of seeds, and shows the worst label
of each cell. The runs are spread over child processes, one per core.

The exit code is 1 when a cell differs from what its scenario expects, or is
vacuous: nobody contended for the lock, or a fault never fired. An expectation
speaks of the seeds 1 to 20: no seed may be worse, and with all of these, one has
to be as bad. What differs is listed, with the command that replays it.

With --out, DIR/index.html is the table with filters. It leads to a page for each
lock and each scenario, and each cell to the report of the first run that shows
its label. The reports of the whole library take half as long again as its matrix,
and 80 MB; --no-runs leaves them out.`,
		Example: `  locksim matrix
  locksim matrix --scenario 'late-*,gc-pause' --lock 'redlock*' --seeds 5
  locksim matrix --scenario ./my.yaml --fencing none,seal
  locksim matrix --broken --json
  locksim matrix --markdown >reports/MATRIX.md
  locksim matrix --out /tmp/matrix      then open /tmp/matrix/index.html
  locksim matrix --junit result.xml`,
		Args: exactly(0, "no arguments; name scenarios with --scenario"),
		RunE: func(*cobra.Command, []string) error { return s.matrix(f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 20, "`N` seeds for every cell")
	flags.Uint64Var(&f.from, "from-seed", 1, "the first seed is `N`")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "only these `SCENARIOS`, with commas: names, patterns such as 'late-*', files")
	flags.StringArrayVar(&f.locks, "lock", nil, "only these `LOCKS`, with commas: names, or patterns such as 'redlock*' and 'broken/*'")
	flags.StringVar(&f.fencing, "fencing", joinModes(fence.Modes()), "fencing `MODES`, with commas")
	flags.BoolVar(&f.broken, "broken", false, "also the locks that are wrong on purpose")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the table; see locksim schema matrix")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the table")
	flags.StringVar(&f.out, "out", "", "also write index.html with its pages, matrix.json, matrix.txt and MATRIX.md into `DIR`")
	flags.BoolVar(&f.noRuns, "no-runs", false, "with --out: leave out the reports of the runs that the cells lead to")
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.StringVar(&f.junit, "junit", "", "also write JUnit XML into `FILE`: a test case for each cell")
	flags.IntVar(&f.workers, "workers", 0, "`N` child processes (default: one per core)")
	s.completeFlags(cmd)
	return cmd
}

// matrix is the matrix command.
func (s matrices) matrix(f matrixFlags) error {
	if f.json && f.markdown {
		return errors.New("--json and --markdown: choose one; --out writes both")
	}
	if f.noRuns && f.out == "" {
		return errors.New("--no-runs: it is about the pages, which --out DIR writes: add that, or leave it out")
	}
	if f.workers < 0 || f.workers > maxWorkers {
		return fmt.Errorf("--workers %d: give a number from 1 to %d, or leave it out for one per core", f.workers, maxWorkers)
	}
	plan, err := s.planMatrix(f)
	if err != nil {
		return err
	}
	k, err := keep(f.keep, f.out, "matrix")
	if err != nil {
		return err
	}
	f.out = k.dir
	if err := errors.Join(prepare(f.out), prepareFile("junit", f.junit)); err != nil {
		return err
	}
	began := time.Now()
	answers, timing, err := s.work(plan, f.children())
	if err != nil {
		return err
	}
	m := plan.Assemble(answers, s.runAgain)
	m.Timing = timing
	m.Timing.WallSeconds = time.Since(began).Seconds()
	return s.publishMatrix(plan, m, f, k)
}

// children is how many child processes there are to be.
func (f matrixFlags) children() int { return cmp.Or(f.workers, runtime.GOMAXPROCS(0)) }

// maxWorkers bounds the processes that a mistyped number can start.
const maxWorkers = 1024

// runAgain is the command that makes some runs of a matrix again.
func (s matrices) runAgain(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return fmt.Sprintf("%s run %s --lock %s --seed %d --fencing %s", s.program, quote(scenario), quote(lock), seed, joinModes(modes))
}

// publishMatrix writes the files and the report, and says whether all is as
// expected.
func (s matrices) publishMatrix(plan *matrix.Plan, m *matrix.Matrix, f matrixFlags, k kept) error {
	var pageless error
	if f.out != "" {
		if err := saveMatrix(f.out, m); err != nil {
			return &brokenError{cause: err}
		}
		pageless = s.savePages(plan, m, f)
	}
	if err := saveFile(f.junit, func(w io.Writer) error { return junit.Matrix(w, m) }); err != nil {
		return &brokenError{cause: err}
	}
	if err := errors.Join(s.showMatrix(m, f), k.list(s.shell)); err != nil {
		return err
	}
	switch n := len(m.Failures); {
	case n > 0:
		return &brokenError{cause: fmt.Errorf("%d of the pairs of scenario and lock could not be run to their end; the first: %s with %s: %s",
			n, m.Failures[0].Scenario, m.Failures[0].Lock, m.Failures[0].Why), replay: m.Failures[0].Replay}
	case pageless != nil:
		return &brokenError{cause: pageless}
	case !m.Expected:
		return errUnexpected
	}
	return nil
}

func (s matrices) showMatrix(m *matrix.Matrix, f matrixFlags) error {
	switch {
	case f.json:
		s.noteProblems(m)
		b, err := m.JSON()
		if err != nil {
			return &brokenError{cause: err}
		}
		_, err = s.out.Write(b)
		return s.print(err)
	case f.markdown:
		s.noteProblems(m)
		return s.print(markdown.Matrix(s.out, m))
	}
	return s.print(terminal.Matrix(s.out, m, reports.Options{Width: matrixWidth, Colour: s.colour(isTerminal)}))
}

// matrixWidth is how wide the table may be.
const matrixWidth = 100

// noteProblems says to people what a program reads in the document.
func (s matrices) noteProblems(m *matrix.Matrix) {
	for _, c := range m.Problems() {
		s.note(fmt.Sprintf("%s, lock %s, mode %s: %s", c.Scenario, c.Lock, c.Mode, c.Problem()))
		if c.CellRuns != nil {
			s.note("replay: " + c.Replay)
		}
	}
}

// saveMatrix writes the matrix in all its forms.
func saveMatrix(dir string, m *matrix.Matrix) error {
	asJSON, err := m.JSON()
	if err != nil {
		return err
	}
	var text, md bytes.Buffer
	err = errors.Join(
		terminal.Matrix(&text, m, reports.Options{Width: matrixWidth}),
		markdown.Matrix(&md, m))
	if err != nil {
		return fmt.Errorf("write the matrix into %s: %w", filepath.Clean(dir), err)
	}
	return writeAll(dir, []document{{"matrix.txt", text.Bytes()}, {"MATRIX.md", md.Bytes()}, {"matrix.json", asJSON}})
}
