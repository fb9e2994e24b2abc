package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/works"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune"
	"locksim/scenarios/tune/trial"
)

// tuneFlags are the flags of the tune command.
type tuneFlags struct {
	work, pauses    string
	p50, p99, pause time.Duration
	oneIn           int
	latency         string
	margin, backoff time.Duration
	contended       float64
	target          float64
	played, rare    int
	seed            uint64
	json, csv       bool
	markdown        bool
	out             string
}

func tuneCommand(s *shell) *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Which TTL: how many sections outlive their lease, and how long a crash blocks",
		Long: `Tune computes, for lengths of a lease from the P50 of the work to ten times its P99,
how many sections outlive their lease, how many act beside another client, how many
cost an acknowledged write without a fence and behind one, and for how long a crash
blocks the others: without renewal, and with a renewal each half, third and tenth of
the TTL. For each of the four it says the shortest TTL that keeps to --target.

The work is measured: --work FILE has one duration with its unit in each line, such as
250ms, at least 100 of them; or it is a lognormal distribution through --p50 and --p99.
Work lasts from the grant until the last write has taken effect. Pauses are those
of the process of a section: --pauses FILE, with a line for each section, 0s where
there was none; or --pause with --one-in. There is no default for pauses, since there
is no published distribution that holds for your machines. The latency of a message is
that of scenarios by default: 1 to 5 ms, an assumption.

It is arithmetic, by counting over the given durations; docs/how-to/choosing.md has the rules.
What lies above the largest duration is marked as extrapolated. --played N plays N
sections, drawn from the same distributions, with the locks single and watchdog in the
simulated world: exit code 1 says that they disagree with the arithmetic. --rare N does
that at the chosen TTL without renewal, where hardly any section outlives its lease: it
draws the long ones by importance splitting, and estimates the share with an interval.`,
		Example: `  locksim tune --p50 800ms --p99 3s
  locksim tune --work durations.txt --pauses pauses.txt --target 1e-5
  locksim tune --p50 800ms --p99 3s --pause 8s --one-in 1000
  locksim tune --work durations.txt --out tuned
  locksim tune --p50 800ms --p99 3s --pause 4s --one-in 50 --played 2000
  locksim tune --p50 800ms --p99 3s --pause 8s --one-in 1000 --target 1e-7 --rare 400`,
		Args: exactly(0, "no arguments, but flags, or leaders"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(s, func(name string) bool { return cmd.Flags().Changed(name) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.work, "work", "", "the durations of the work, one in each line of `FILE`, such as 250ms")
	flags.DurationVar(&f.p50, "p50", 0, "the median of the work, a `DURATION`; with --p99, in place of --work")
	flags.DurationVar(&f.p99, "p99", 0, "the `DURATION` that 99 in 100 do not exceed")
	flags.StringVar(&f.pauses, "pauses", "", "the pauses of sections, one in each line of `FILE`; 0s for none")
	flags.DurationVar(&f.pause, "pause", 0, "a pause of this `DURATION` in one section of --one-in, in place of --pauses")
	flags.IntVar(&f.oneIn, "one-in", 0, "one section in `N` is paused")
	flags.StringVar(&f.latency, "latency", "1ms..5ms", "the delay of a message, a `RANGE`")
	flags.DurationVar(&f.margin, "margin", 0, "by this `DURATION` a lease may end before its TTL is over, as by clocks "+
		"that drift")
	flags.DurationVar(&f.backoff, "backoff", 200*time.Millisecond, "a client that waits asks again after this `DURATION` "+
		"at most")
	flags.Float64Var(&f.contended, "contended", 1, "the `SHARE` of sections for whose lock another client waits, 0 to 1")
	flags.Float64Var(&f.target, "target", 1e-4, "the `SHARE` of sections that may outlive their lease")
	flags.IntVar(&f.played, "played", 0, "also play `N` sections, as a check")
	flags.IntVar(&f.rare, "rare", 0, "also play `N` sections at the chosen TTL: the long ones, drawn by splitting")
	flags.Uint64Var(&f.seed, "seed", 1, "the `SEED` of the first played section")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report; see locksim schema tune")
	flags.BoolVar(&f.csv, "csv", false, csvUsage+": a row for each renewal and TTL")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the report")
	flags.StringVar(&f.out, "out", "", "also write tune.html, tune.md, tune.json and tune.csv into `DIR`")
	completion{s.Roster}.flags(cmd)
	cmd.AddCommand(leadersCommand(s))
	return cmd
}

// run is the tune command. given reports whether a flag was given.
func (f tuneFlags) run(s *shell, given func(flag string) bool) error {
	if err := oneForm(map[string]bool{"--json": f.json, "--csv": f.csv, "--markdown": f.markdown}); err != nil {
		return err
	}
	if err := outfile.PrepareFolder("out", f.out); err != nil {
		return err
	}
	opt, latency, err := f.options(given)
	if err != nil {
		return err
	}
	t := tune.Compute(opt)
	if f.played > 0 {
		t.Played, err = trial.Play(opt, t, trial.Options{Sections: f.played, Seed: f.seed, Latency: latency})
		if err != nil {
			return fmt.Errorf("--played %d: %w", f.played, err)
		}
	}
	if f.rare > 0 {
		p, err := trial.Rare(opt, t, trial.Options{Sections: f.rare, Seed: f.seed, Latency: latency})
		if err != nil {
			return fmt.Errorf("--rare %d: %w", f.rare, err)
		}
		t.Played = append(t.Played, *p)
	}
	if f.out != "" {
		if err := works.StoreTuning(s.Console, f.out, t, f.again(given)); err != nil {
			return &console.BrokenError{Cause: fmt.Errorf("store the tuning in %s: %w", f.out, err)}
		}
	}
	if err := f.print(s, t); err != nil {
		return err
	}
	for _, p := range t.Played {
		if !p.Agree() {
			return console.ErrUnexpected
		}
	}
	return nil
}

func (f tuneFlags) print(s *shell, t *tunings.Tuning) error {
	switch {
	case f.json:
		b, err := t.JSON()
		if err != nil {
			return &console.BrokenError{Cause: err}
		}
		_, err = s.Out.Write(b)
		return s.Print(err)
	case f.csv:
		return s.Print(csv.Write(s.Out, csv.Tuning(t)))
	case f.markdown:
		return s.Print(markdown.Tuning(s.Out, t))
	}
	err := terminal.Tuning(s.Out, t, reports.Options{Width: compareWidth, Colour: s.Colour(console.IsTerminal)})
	if err == nil && f.out != "" {
		_, err = fmt.Fprintf(s.Out, "\n%s\n", filepath.Join(f.out, works.TuningPage))
	}
	return s.Print(err)
}

func (f tuneFlags) options(given func(flag string) bool) (opt tune.Options, latency [2]time.Duration, err error) {
	if opt.Work, err = f.workGiven(given); err != nil {
		return opt, latency, err
	}
	if opt.Pauses, err = f.pausesGiven(given); err != nil {
		return opt, latency, err
	}
	if latency, err = readRange(f.latency); err != nil {
		return opt, latency, err
	}
	source := fmt.Sprintf("an assumption: evenly from %v to %v, as --latency has it", latency[0], latency[1])
	opt.Reply = tune.Uniform(latency[0], latency[1], source)
	opt.Margin, opt.Backoff = f.margin.Seconds(), f.backoff.Seconds()
	opt.Contended, opt.Target = f.contended, f.target
	switch {
	case f.margin < 0 || f.margin > 24*time.Hour:
		return opt, latency, fmt.Errorf("--margin %v: give a length of time from 0s to 24h", f.margin)
	case f.backoff < 0 || f.backoff > 24*time.Hour:
		return opt, latency, fmt.Errorf("--backoff %v: give a length of time from 0s to 24h", f.backoff)
	case !(f.contended >= 0 && f.contended <= 1):
		return opt, latency, fmt.Errorf("--contended %v: give a share from 0 to 1", f.contended)
	case !(f.target >= 1e-9 && f.target < 1):
		return opt, latency, fmt.Errorf("--target %v: give a share from 1e-9 to below 1, such as 1e-4", f.target)
	case f.rare != 0 && (f.rare < trial.Climbs || f.rare > 1_000_000):
		return opt, latency, fmt.Errorf("--rare %d: give a number of sections from %d to 1000000", f.rare, trial.Climbs)
	case f.played < 0 || f.played > 1_000_000:
		return opt, latency, fmt.Errorf("--played %d: give a number of sections up to 1000000", f.played)
	}
	return opt, latency, nil
}

// longestGiven is the longest duration that a flag may have.
const longestGiven = 24 * time.Hour

func (f tuneFlags) workGiven(given func(flag string) bool) (tune.Distribution, error) {
	switch {
	case f.work != "" && (given("p50") || given("p99")):
		return tune.Distribution{}, errors.New("--work, and --p50 and --p99: give the file, or the two")
	case f.work != "":
		return readDurations("work", f.work, false)
	case !given("p50") || !given("p99"):
		return tune.Distribution{}, errors.New("there is no work: give --work FILE, with a duration in each line, or " +
			"--p50 and --p99")
	case f.p99 > longestGiven:
		return tune.Distribution{}, fmt.Errorf("--p99 %v: give a length of time up to 24h", f.p99)
	}
	d, err := tune.Lognormal(f.p50, f.p99)
	if err != nil {
		return d, fmt.Errorf("--p50 %v --p99 %v: %w", f.p50, f.p99, err)
	}
	return d, nil
}

func (f tuneFlags) pausesGiven(given func(flag string) bool) (tune.Distribution, error) {
	switch {
	case f.pauses != "" && given("pause"):
		return tune.Distribution{}, errors.New("--pauses and --pause: give one of them")
	case f.pauses != "":
		return readDurations("pauses", f.pauses, true)
	case given("pause") != given("one-in"):
		return tune.Distribution{}, errors.New("--pause and --one-in: give both, such as --pause 8s --one-in 1000")
	case !given("pause"):
		return tune.None("none were given, with --pauses, or --pause and --one-in"), nil
	case f.pause <= 0 || f.pause > longestGiven:
		return tune.Distribution{}, fmt.Errorf("--pause %v: give a length of time above 0, up to 24h", f.pause)
	case f.oneIn < 1:
		return tune.Distribution{}, fmt.Errorf("--one-in %d: give a number from 1 on", f.oneIn)
	}
	return tune.Rare(f.pause, f.oneIn), nil
}

func readDurations(flag, name string, zero bool) (tune.Distribution, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tune.Distribution{}, fmt.Errorf("--%s %s: there is no such file: give one with a duration in each line, such "+
			"as 250ms", flag, console.Quote(name))
	}
	if err != nil {
		return tune.Distribution{}, fmt.Errorf("--%s %s: %w", flag, console.Quote(name), err)
	}
	defer func() { _ = file.Close() }() // it was read
	all, err := tune.Read(file, zero)
	if err != nil {
		return tune.Distribution{}, fmt.Errorf("--%s %s: %w", flag, console.Quote(name), err)
	}
	return tune.Counted(all, name), nil
}

// readRange reads "1ms..5ms", or "3ms" for both ends.
func readRange(text string) (ends [2]time.Duration, err error) {
	first, last, isRange := strings.Cut(text, "..")
	if !isRange {
		last = first
	}
	for i, part := range []string{first, last} {
		if ends[i], err = time.ParseDuration(part); err != nil || ends[i] < 0 || ends[i] > time.Minute {
			return ends, fmt.Errorf("--latency %s: give a range such as 1ms..5ms, up to 1m", console.Quote(text))
		}
	}
	if ends[1] < ends[0] {
		return ends, fmt.Errorf("--latency %s: its end is before its beginning: exchange the two", console.Quote(text))
	}
	return ends, nil
}

func (f tuneFlags) again(given func(flag string) bool) string {
	text := "tune"
	for _, flag := range []struct {
		name  string
		value any
	}{{"work", f.work}, {"p50", f.p50}, {"p99", f.p99}, {"pauses", f.pauses}, {"pause", f.pause}, {"one-in", f.oneIn},
		{"latency", f.latency}, {"margin", f.margin}, {"backoff", f.backoff}, {"contended", f.contended},
		{"target", f.target}, {"played", f.played}, {"rare", f.rare}, {"seed", f.seed}} {
		if given(flag.name) {
			text += fmt.Sprintf(" --%s %s", flag.name, console.Quote(fmt.Sprint(flag.value)))
		}
	}
	return text + " --out DIR"
}
