package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"locksim/internal/book"
	"locksim/internal/dev/checkout"
	"locksim/scenarios/outcome/matrices"
)

func main() { os.Exit(command(os.Args[1:], os.Stderr)) }

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// journal has the stored results, in the checkout.
const journal = "internal/dev/redlock/results.jsonl"

// key is a cell of the page.
type key struct {
	Scenario string `json:"scenario"`
	Lock     string `json:"lock"`
}

// result are the figures of a cell.
type result struct {
	key
	// Played is the hash of its scenario.
	Played string `json:"played"`
	Runs   int    `json:"runs"`
	// Tested counts the runs in which clients contended and every fault struck.
	Tested    int           `json:"tested"`
	TwoClaims int           `json:"two_claims"`
	Lost      int           `json:"lost"`
	CPU       time.Duration `json:"cpu_ns"`
	Commit    string        `json:"commit"`
}

func (r result) cell() key     { return r.key }
func (r result) state() string { return r.Commit }

// hash is that of the scenario of a cell.
func (c cell) hash() string {
	sum := sha256.Sum256([]byte(c.yaml()))
	return hex.EncodeToString(sum[:])
}

func command(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("redlock", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root, err := checkout.Root()
	if err != nil {
		return say(stderr, err, exitUsage)
	}
	choices := book.Flags(flags, filepath.Join(root, journal))
	files := flags.Bool("files", false, "write the scenarios alone")
	pattern := flags.String("cells", "", "with -table: play only the cells whose scenario matches this `REGEXP`")
	if flags.Parse(args) != nil {
		return exitUsage
	}
	wanted, err := regexp.Compile(*pattern)
	switch err = errors.Join(err, choices.Check()); {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is one word too many", flags.Arg(0))
	case *files == choices.Table:
		err = errors.New("say either -table or -files")
	case *pattern != "" && (*files || choices.Stored):
		err = errors.New("-cells says what is played, and this plays nothing: leave it out")
	}
	if err != nil {
		return say(stderr, err, exitUsage)
	}
	if err := publishScenarios(root); err != nil {
		return say(stderr, err, exitFailed)
	}
	if choices.Table {
		if err := makeTable(root, choices, wanted, stderr); err != nil {
			return say(stderr, err, exitFailed)
		}
	}
	return exitOK
}

func say(stderr io.Writer, err error, code int) int {
	_, _ = fmt.Fprintln(stderr, "redlock:", err)
	return code
}

// scenarioPages are the files in reports/redlock, by their paths from reports.
func scenarioPages() map[string][]byte {
	pages := map[string][]byte{}
	for _, c := range cells() {
		pages[strings.TrimPrefix(c.file(), "reports/")] = []byte(c.yaml())
	}
	return pages
}

func publishScenarios(root string) error {
	return book.Publish(filepath.Join(root, "reports"), "redlock", scenarioPages())
}

// makeTable plays what is missing, and writes the page.
func makeTable(root string, choices *book.Choices, wanted *regexp.Regexp, stderr io.Writer) (err error) {
	b, err := book.Chosen(choices, result.cell, result.state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if !choices.Stored {
		if err := playMissing(root, b, wanted, stderr); err != nil {
			return err
		}
	}
	text, err := page(b)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "reports", "REDLOCK.md"), []byte(text), 0o644)
}

// playMissing plays the cells without a result, one after another: locksim matrix uses all processors for each.
func playMissing(root string, b *book.Book[key, result], wanted *regexp.Regexp, stderr io.Writer) error {
	now, err := book.ThisCheckout()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "redlock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's directory for temporary files
	program := filepath.Join(dir, "locksim")
	build := exec.Command("go", "build", "-o", program, "./cmd/locksim")
	build.Dir = root
	if _, _, err := book.Output(build); err != nil {
		return fmt.Errorf("build the command: %w", err)
	}
	for _, c := range cells() {
		done, ok, err := b.Kept(c.key())
		if err != nil {
			return err
		}
		if ok && done.Played == c.hash() || !wanted.MatchString(c.scenario()) {
			continue
		}
		r, err := play(root, program, c)
		if err != nil {
			return fmt.Errorf("%s with %s: %w", c.scenario(), c.row.lock, err)
		}
		r.Commit = now.State
		if err := b.Add(r); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(stderr, "%-24s %-16s two claims %4d, lost %4d of %4d, %v of CPU\n", r.Scenario, r.Lock,
			r.TwoClaims, r.Lost, r.Runs, r.CPU.Round(time.Second))
	}
	return nil
}

// play makes the runs of a cell, by its command.
func play(root, program string, c cell) (result, error) {
	cmd := exec.Command(program, append(strings.Fields(c.command())[1:], "--json", "--quiet")...)
	cmd.Dir = root
	// The exit code says how the cell compares with what its scenario expects, which is nothing.
	text, cpu, err := book.Output(cmd)
	var m matrices.Matrix
	if bad := json.Unmarshal(text, &m); bad != nil {
		return result{}, errors.Join(err, bad)
	}
	switch {
	case len(m.Failures) > 0:
		return result{}, fmt.Errorf("%s: %s", m.Failures[0].Replay, m.Failures[0].Why)
	case len(m.Cells) != 1 || m.Cells[0].CellRuns == nil:
		return result{}, fmt.Errorf("there are %d cells, and not one with runs: %w", len(m.Cells), err)
	}
	r := m.Cells[0].CellRuns
	return result{key: c.key(), Played: c.hash(), Runs: r.Seeds, Tested: min(r.Contended, r.AllFired),
		TwoClaims: r.TwoClaims, Lost: r.Lost, CPU: cpu}, nil
}
