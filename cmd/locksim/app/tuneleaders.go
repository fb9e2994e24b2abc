package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
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
	"locksim/scenarios/tune/leaders"
)

// leadersFlags are the flags of tune leaders.
type leadersFlags struct {
	kubernetes, consul, zookeeper, etcd []string
	outages, pauses                     []time.Duration
	survive, bound                      time.Duration
	json, csv, markdown                 bool
	out                                 string
}

func leadersCommand(s *shell) *cobra.Command {
	var f leadersFlags
	cmd := &cobra.Command{
		Use:   "leaders",
		Short: "Which times of an election survive an outage, and for how long a crash leaves no leader",
		Long: `Leaders computes what the times of an election mean: LeaseDuration, RenewDeadline and
RetryPeriod of Kubernetes, the session and the lock-delay of Consul, the session
timeout of ZooKeeper, the lease of etcd. For an outage of the servers, a pause of the
leader and a crash it says whether the leader is lost, for how long two clients lead,
and for how long none does. With --survive and --bound it recommends a setting of each
system, or says why there is none: an outage of --survive costs no leader, and a crash
leaves none for longer than --bound.

It is arithmetic, from the rules of the clients and servers; docs/how-to/leaders.md has them,
and what played runs say.`,
		Example: `  locksim tune leaders
  locksim tune leaders --kubernetes 15/10/2,137/107/26 --outage 5s,12s,30s --pause 20s
  locksim tune leaders --consul 15/15/10 --zookeeper 10 --etcd 10
  locksim tune leaders --survive 12s --bound 20s`,
		Args: exactly(0, "no arguments, but flags"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(s, func(name string) bool { return cmd.Flags().Changed(name) })
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kubernetes, "kubernetes", nil, "settings `L/D/R` of Kubernetes: leaseDuration, renewDeadline "+
		"and retryPeriod, in seconds or with a unit")
	flags.StringSliceVar(&f.consul, "consul", nil, "settings `TTL/DELAY` of Consul: that of the session, the lock-delay, "+
		"and, as TTL/DELAY/N, MonitorRetries")
	flags.StringSliceVar(&f.zookeeper, "zookeeper", nil, "session timeouts `T` of ZooKeeper")
	flags.StringSliceVar(&f.etcd, "etcd", nil, "TTLs `T` of leases of etcd")
	flags.DurationSliceVar(&f.outages, "outage", []time.Duration{5 * time.Second, 12 * time.Second, 30 * time.Second},
		"for these `DURATIONS` no server answers")
	flags.DurationSliceVar(&f.pauses, "pause", []time.Duration{20 * time.Second},
		"for these `DURATIONS` the process of the leader stands still")
	flags.DurationVar(&f.survive, "survive", 0, "recommend a setting with which an outage of this `DURATION` costs no "+
		"leader; with --bound")
	flags.DurationVar(&f.bound, "bound", 0, "the `DURATION` for which a crash may leave no leader")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report; see locksim schema leaders")
	flags.BoolVar(&f.csv, "csv", false, csvUsage+": a row for each setting and trouble")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown instead of the report")
	flags.StringVar(&f.out, "out", "", "also write leaders.html, leaders.md, leaders.json and leaders.csv into `DIR`")
	completion{s.Roster}.flags(cmd)
	return cmd
}

// run is the command. given reports whether a flag was given.
func (f leadersFlags) run(s *shell, given func(flag string) bool) error {
	if err := oneForm(map[string]bool{"--json": f.json, "--csv": f.csv, "--markdown": f.markdown}); err != nil {
		return err
	}
	if err := outfile.PrepareFolder("out", f.out); err != nil {
		return err
	}
	elections, err := f.elections()
	if err != nil {
		return err
	}
	outages, err := troubleLengths("outage", f.outages)
	if err != nil {
		return err
	}
	pauses, err := troubleLengths("pause", f.pauses)
	if err != nil {
		return err
	}
	doc := leaders.Compute(elections, outages, pauses)
	if given("survive") || given("bound") {
		if doc.Wish, err = f.wish(given); err != nil {
			return err
		}
		doc.Advice = leaders.Advise(*doc.Wish)
	}
	if f.out != "" {
		if err := works.StoreLeaders(s.Console, f.out, doc, f.again(given)); err != nil {
			return &console.BrokenError{Cause: fmt.Errorf("store the elections in %s: %w", f.out, err)}
		}
	}
	return f.print(s, doc)
}

func (f leadersFlags) print(s *shell, doc *tunings.Leaders) error {
	switch {
	case f.json:
		b, err := doc.JSON()
		if err != nil {
			return &console.BrokenError{Cause: err}
		}
		_, err = s.Out.Write(b)
		return s.Print(err)
	case f.csv:
		return s.Print(csv.Write(s.Out, csv.Leaders(doc)))
	case f.markdown:
		return s.Print(markdown.Leaders(s.Out, doc))
	}
	err := terminal.Leaders(s.Out, doc, reports.Options{Width: compareWidth, Colour: s.Colour(console.IsTerminal)})
	if err == nil && f.out != "" {
		_, err = fmt.Fprintf(s.Out, "\n%s\n", filepath.Join(f.out, works.LeadersPage))
	}
	return s.Print(err)
}

// usualElections are the settings that users publish, and the defaults.
func usualElections() []leaders.Election {
	const s = time.Second
	return []leaders.Election{
		leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 10 * s, RetryPeriod: 2 * s},
		leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 15 * s, RetryPeriod: 5 * s},
		leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 14 * s, RetryPeriod: 5 * s},
		leaders.Kubernetes{LeaseDuration: 137 * s, RenewDeadline: 107 * s, RetryPeriod: 26 * s},
		leaders.Consul{TTL: 15 * s, LockDelay: 15 * s},
		leaders.ZooKeeper{SessionTimeout: 10 * s, Tick: leaders.Tick, Disconnected: true},
		leaders.ZooKeeper{SessionTimeout: 10 * s, Tick: leaders.Tick},
		leaders.Etcd{TTL: 60 * s},
	}
}

// elections reads the settings that were given.
func (f leadersFlags) elections() ([]leaders.Election, error) {
	var all []leaders.Election
	for _, text := range f.kubernetes {
		times, err := readTimes("kubernetes", text, "15/10/2", 3)
		if err != nil {
			return nil, err
		}
		all = append(all, leaders.Kubernetes{LeaseDuration: times[0], RenewDeadline: times[1], RetryPeriod: times[2]})
	}
	for _, text := range f.consul {
		rest, retries, err := readRetries(text)
		if err != nil {
			return nil, err
		}
		times, err := readTimes("consul", rest, "15/15", 2)
		if err != nil {
			return nil, err
		}
		all = append(all, leaders.Consul{TTL: times[0], LockDelay: times[1], MonitorRetries: retries})
	}
	for _, text := range f.zookeeper {
		times, err := readTimes("zookeeper", text, "10", 1)
		if err != nil {
			return nil, err
		}
		for _, disconnected := range []bool{true, false} {
			all = append(all, leaders.ZooKeeper{SessionTimeout: times[0], Tick: leaders.Tick, Disconnected: disconnected})
		}
	}
	for _, text := range f.etcd {
		times, err := readTimes("etcd", text, "60", 1)
		if err != nil {
			return nil, err
		}
		all = append(all, leaders.Etcd{TTL: times[0]})
	}
	if all == nil {
		return usualElections(), nil
	}
	return all, nil
}

// mostRetries is how many MonitorRetries a setting may have.
const mostRetries = 100_000

// readRetries reads the number that may follow the times of Consul, and returns what comes before it.
func readRetries(text string) (rest string, n int, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return text, 0, nil
	}
	if n, err = strconv.Atoi(parts[2]); err != nil || n < 0 || n > mostRetries {
		return "", 0, fmt.Errorf("--consul %s: %s is no number of retries from 0 to %d: write it as 15/15/10",
			console.Quote(text), console.Quote(parts[2]), mostRetries)
	}
	return strings.Join(parts[:2], "/"), n, nil
}

// readTimes reads times with slashes between them, in seconds or with a unit.
func readTimes(flag, text, example string, count int) ([]time.Duration, error) {
	parts := strings.Split(text, "/")
	if len(parts) != count {
		return nil, fmt.Errorf("--%s %s: give it as %s, in seconds or with units", flag, console.Quote(text), example)
	}
	var all []time.Duration
	for _, part := range parts {
		d, err := time.ParseDuration(part)
		if n, bare := strconv.Atoi(part); bare == nil && n <= int(longestGiven/time.Second) {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d < 0 || d > longestGiven {
			return nil, fmt.Errorf("--%s %s: %s is no length of time up to 24h: write it as %s, in seconds or with units", flag,
				console.Quote(text), console.Quote(part), example)
		}
		all = append(all, d)
	}
	return all, nil
}

// troubleLengths are the lengths of a flag in seconds.
func troubleLengths(flag string, given []time.Duration) ([]float64, error) {
	var all []float64
	for _, d := range given {
		if d <= 0 || d > longestGiven {
			return nil, fmt.Errorf("--%s %v: give lengths of time above 0, up to 24h", flag, d)
		}
		all = append(all, d.Seconds())
	}
	return all, nil
}

// longestSurvived is the longest outage that a setting is looked for.
const longestSurvived = time.Hour

func (f leadersFlags) wish(given func(flag string) bool) (*tunings.Wish, error) {
	switch {
	case !given("survive") || !given("bound"):
		return nil, errors.New("--survive and --bound: give both, such as --survive 12s --bound 20s")
	case f.survive <= 0 || f.survive > longestSurvived:
		return nil, fmt.Errorf("--survive %v: give a length of time above 0, up to %v", f.survive, longestSurvived)
	case f.bound <= 0 || f.bound > longestGiven:
		return nil, fmt.Errorf("--bound %v: give a length of time above 0, up to 24h", f.bound)
	}
	return &tunings.Wish{SurviveSeconds: f.survive.Seconds(), BoundSeconds: f.bound.Seconds()}, nil
}

func (f leadersFlags) again(given func(flag string) bool) string {
	text := "tune leaders"
	lengths := func(all []time.Duration) string {
		var parts []string
		for _, d := range all {
			parts = append(parts, d.String())
		}
		return strings.Join(parts, ",")
	}
	for _, flag := range []struct{ name, value string }{
		{"kubernetes", strings.Join(f.kubernetes, ",")}, {"consul", strings.Join(f.consul, ",")},
		{"zookeeper", strings.Join(f.zookeeper, ",")}, {"etcd", strings.Join(f.etcd, ",")},
		{"outage", lengths(f.outages)}, {"pause", lengths(f.pauses)}, {"survive", f.survive.String()},
		{"bound", f.bound.String()},
	} {
		if given(flag.name) {
			text += fmt.Sprintf(" --%s %s", flag.name, console.Quote(flag.value))
		}
	}
	return text + " --out DIR"
}
