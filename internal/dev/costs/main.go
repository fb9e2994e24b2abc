package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"locksim/internal/book"
	"locksim/internal/machine"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// ownResults is the file of the results from which reports/COSTS.md is made.
const ownResults = "costs/results.jsonl"

// options are the flags.
type options struct {
	stored bool
	file   string
	only   *regexp.Regexp
	rounds int
	times  times
	folder string
}

// parse reads the flags. An error was told.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("costs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.stored, "stored", false, "measure nothing, write the page of what is stored")
	flags.StringVar(&o.file, "results", ownResults, "the `file` of the results")
	only := flags.String("only", "", "only the systems whose name matches this regular expression, such as etcd")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each cell is measured")
	flags.DurationVar(&o.times.Warm, "warm", 300*time.Millisecond, "how long clients run before they are measured")
	flags.DurationVar(&o.times.Window, "window", 3*time.Second, "how long a cell is measured")
	flags.DurationVar(&o.times.Base, "base", time.Second, "how long the SETs beside a cell are measured")
	flags.DurationVar(&o.times.Work, "work", 2*time.Millisecond, "how long a client has a key that others want")
	flags.StringVar(&o.folder, "dir", "", "the `folder` for the data of the servers; by default one that is on a disk")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		err = fmt.Errorf("-only takes a regular expression: %w", err)
	}
	if o.rounds < 1 || o.times.Warm < 0 || o.times.Work < 0 || o.times.Window <= 0 || o.times.Base <= 0 {
		err = errors.Join(err, errors.New("-rounds is a number from 1, and -window and -base are longer than 0"))
	}
	if *only != "" && o.file == ownResults {
		err = errors.Join(err, errors.New("-only would write over the results of all systems: add -results FILE"))
	}
	if flags.NArg() > 0 {
		err = errors.Join(err, fmt.Errorf("there are no arguments: %q", flags.Args()))
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "costs: %v\n", err)
	}
	return o, err
}

// command runs the program and returns its exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	if !o.stored {
		err = o.measure(ctx, stderr)
	}
	if err == nil {
		err = o.write(stdout)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "costs: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// write writes the page of the stored results.
func (o options) write(w io.Writer) error {
	r, err := readResults(o.file)
	if err != nil {
		return err
	}
	text, err := r.page()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// measure measures what is missing.
func (o options) measure(ctx context.Context, stderr io.Writer) (err error) {
	m := &measurement{rounds: o.rounds, times: o.times, folder: dataFolder(o.folder), progress: stderr}
	if err := os.Setenv("TMPDIR", m.folder); err != nil { // of the servers, and of the guard that ends them
		return err
	}
	now, err := o.begin(m)
	if err != nil {
		return err
	}
	if m.results, err = openResults(o.file, now, m.all()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.results.Close()) }()
	if m.baseline, err = newBaseline(ctx, maxClients()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.baseline.close()) }()
	return m.run(ctx)
}

// begin chooses the rows of a measurement, and describes where it is made.
func (o options) begin(m *measurement) (start, error) {
	c, err := book.ThisCheckout()
	if err != nil {
		return start{}, err
	}
	date, _, err := book.Output(exec.Command("git", "show", "-s", "--format=%cs", "HEAD"))
	if err != nil {
		return start{}, err
	}
	now := start{Commit: c.State, Date: strings.TrimSpace(string(date)), Load: machine.Load(),
		Rounds: o.rounds, Warm: o.times.Warm,
		Window: o.times.Window, Base: o.times.Base, Work: o.times.Work, Only: o.only.String(), Processor: machine.Processor(),
		Cores: runtime.NumCPU(), Go: runtime.Version(), Folder: m.folder, Missing: map[string]string{}}
	now.Files, now.Device = machine.FileSystem(m.folder)
	for _, r := range rows {
		switch why := r.on.missing(); {
		case !o.only.MatchString(r.on.name):
		case why == nil:
			m.rows = append(m.rows, r)
		case os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1":
			return now, fmt.Errorf("%w, and LOCKSIM_REQUIRE_LIVE=1 asks for it", why)
		default:
			now.Missing[r.on.name] = why.Error()
		}
	}
	if err := oneRedis.missing(); err != nil {
		return now, fmt.Errorf("every figure is a ratio to a SET: %w", err)
	}
	if len(m.rows) == 0 {
		return now, fmt.Errorf("no system whose name matches %q is installed", o.only)
	}
	now.Trips, err = trips(m.rows)
	return now, err
}

// dataFolder is the folder for the data of the servers: the one that was asked for, else that for temporary files if
// it is on a disk, else one that may be.
func dataFolder(asked string) string {
	if asked != "" {
		return asked
	}
	if kind, _ := machine.FileSystem(os.TempDir()); kind == "tmpfs" {
		return "/var/tmp"
	}
	return os.TempDir()
}

func maxClients() (most int) {
	for _, l := range loads {
		most = max(most, l.Clients)
	}
	return most
}
