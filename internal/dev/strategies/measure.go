package strategies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"locksim/internal/book"
	"locksim/internal/dev/strategies/trials"
	"locksim/scenarios/spaces"
)

// Request is what the flags ask for.
type Request struct {
	pattern    string
	strategies []string
	results    string
	seeds      int
	limit      time.Duration
	workers    int
	table      bool
	anew       bool
	list       string

	wanted *regexp.Regexp
}

// Flags defines the flags.
func (r *Request) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&r.pattern, "run", "", "only the mistakes whose name matches this regular expression")
	flags.StringSliceVar(&r.strategies, "strategies", []string{string(spaces.StrategySwarm), string(spaces.StrategyMixed)},
		"compare these; the first is what the others are measured by")
	flags.StringVar(&r.list, "list", "", "search the mistakes of another file; its results need a file of their own, too")
	flags.StringVar(&r.results, "results", "", "the file of the results; default: "+resultsFile)
	flags.IntVar(&r.seeds, "seeds", 4, "search from so many first seeds")
	flags.DurationVar(&r.limit, "cpu", 8*time.Second, "end a search after so much CPU time")
	flags.IntVar(&r.workers, "workers", 2, "search so many mistakes at a time")
	flags.BoolVar(&r.table, "table", false, "search nothing, print the table of the results that there are")
	flags.BoolVar(&r.anew, "anew", false, "also search again what was searched at another commit, or with changes that "+
		"no commit has")
}

// Validate returns an error for values of flags with which nothing can be searched.
func (r *Request) Validate([]string) error {
	var err error
	if r.wanted, err = regexp.Compile(r.pattern); err != nil {
		return err
	}
	for _, s := range r.strategies {
		if err := (spaces.Space{Strategy: spaces.Strategy(s)}).Validate(); s == "" || err != nil {
			return fmt.Errorf("--strategies: %w", cmp.Or(err, errors.New("one has no name")))
		}
	}
	switch {
	case r.list != "" && r.results == "":
		return errors.New("--list: name the file of its results, too, with --results")
	case len(r.strategies) == 0:
		return errors.New("--strategies: name one at least")
	case r.seeds < 1 || r.workers < 1 || r.limit <= 0:
		return errors.New("--seeds and --workers are numbers from 1, and --cpu is a length of time")
	}
	return nil
}

const resultsFile = "internal/dev/strategies/results.jsonl"

// result has the searches for a mistake.
type result struct {
	Name   string         `json:"name"`
	Lock   string         `json:"lock"`
	Limit  time.Duration  `json:"limit"`
	Commit string         `json:"commit"`
	Trials []trials.Trial `json:"trials"`
}

// name is what a result is of. Of the results with the same one the latest counts.
func (r result) name() string { return r.Name }

func (r result) commit() string { return r.Commit }

// stored are the results of some mistakes, by name.
func stored(b *book.Book[string, result], all []mistake) map[string]result {
	found := map[string]result{}
	for _, m := range all {
		if done, ok := b.Latest(m.name); ok {
			found[m.name] = done
		}
	}
	return found
}

// Run makes the searches that are missing in the checkout at root, and prints the table.
func (r *Request) Run(ctx context.Context, root, dir string, stdout, stderr io.Writer) (err error) {
	text := list
	if r.list != "" {
		other, err := os.ReadFile(r.list)
		if err != nil {
			return err
		}
		text = string(other)
	}
	all, err := mistakes(root, text, r.wanted)
	if err != nil {
		return err
	}
	file := r.results
	if file == "" {
		file = filepath.Join(root, resultsFile)
	}
	b, err := book.Chosen(&book.Choices{Stored: r.table, Anew: r.anew, Journal: file}, result.name, result.commit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if !r.table {
		if err := r.searchAll(ctx, &trials.Workshop{Root: root, Dir: dir}, all, b, stderr); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, markdown(all, stored(b, all), r.strategies))
	return err
}

func (r *Request) searchAll(ctx context.Context, shop *trials.Workshop, all []mistake, b *book.Book[string, result],
	stderr io.Writer) error {
	now, err := book.ThisCheckout()
	if err != nil {
		return err
	}
	var jobs []func() error
	for i, m := range all {
		if done, ok, err := b.Kept(m.name); err != nil {
			return err
		} else if ok && r.complete(done) {
			continue
		}
		jobs = append(jobs, func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			out, err := shop.Search(ctx, strconv.Itoa(i), m.overlay(), r.plan(m))
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if slices.ContainsFunc(out, func(t trials.Trial) bool { return t.Runs == 0 }) {
				return fmt.Errorf("%s fails without faults: it is no measure of a search", m.name)
			}
			made := result{m.name, m.lock, r.limit, now.State, out}
			_, _ = fmt.Fprintf(stderr, "%s\n", made.line(r.strategies))
			return b.Add(made)
		})
	}
	return book.Do(r.workers, jobs)
}

// complete reports whether a result has all that is asked for.
func (r *Request) complete(done result) bool {
	for _, s := range r.strategies {
		if len(done.of(s)) < r.seeds {
			return false
		}
	}
	return done.Limit == r.limit
}

func (r result) of(strategy string) []trials.Trial {
	return slices.DeleteFunc(slices.Clone(r.Trials), func(t trials.Trial) bool { return t.Strategy != strategy })
}

func (r result) line(strategies []string) string {
	line := r.Name
	for _, s := range strategies {
		m := sampleOf(r.of(s))
		line += fmt.Sprintf("; %s %.2f s, %d runs, %d of %d found", s, m.median(), m.runs(), m.found(), len(m))
	}
	return line
}

// plan is what is searched for a mistake.
func (r *Request) plan(m mistake) trials.Plan {
	p := trials.Plan{Lock: m.lock, Strategies: r.strategies, CPU: r.limit, Runs: between}
	for i := range r.seeds {
		p.Firsts = append(p.Firsts, uint64(i)*between+1)
	}
	return p
}

// between is how many seeds lie between two first ones.
const between = 1_000_000
