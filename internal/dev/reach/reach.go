package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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
	pattern, results string
	size, workers    int
	limits           limits
	table            bool // no search
	anew             bool

	wanted *regexp.Regexp
}

// limits are those of each search.
type limits struct {
	Runs int           `json:"runs"`
	CPU  time.Duration `json:"cpu"`
}

// firstSeeds are the seeds with which the searches for a mistake begin.
var firstSeeds = []uint64{1, 1_000_001, 2_000_001}

// resultsFile has the results, relative to the root of the checkout.
const resultsFile = "internal/dev/reach/results.jsonl"

// Flags defines the flags.
func (r *Request) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&r.pattern, "run", "", "only the mutants of the sample whose GROUP/NAME matches this regular "+
		"expression")
	flags.StringVar(&r.results, "results", "", "the file of the results; default: "+resultsFile)
	flags.IntVar(&r.size, "size", 60, "the size of the sample: a larger one has all of a smaller one")
	flags.IntVar(&r.limits.Runs, "runs", 10_000, "end a search after so many runs")
	flags.DurationVar(&r.limits.CPU, "cpu", 15*time.Second, "end a search after so much CPU time")
	flags.IntVar(&r.workers, "workers", 2, "search so many mutants at a time")
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
	if r.size < 1 || r.limits.Runs < 1 || r.limits.CPU <= 0 || r.workers < 1 {
		return errors.New("--size, --runs and --workers are numbers from 1, and --cpu is a length of time")
	}
	return nil
}

// result has the searches for a mutant, in the last kind of lock that was tried.
type result struct {
	Name   string         `json:"name"`
	Lock   string         `json:"lock"`
	Limits limits         `json:"limits"`
	Commit string         `json:"commit"`
	Trials []trials.Trial `json:"trials"`
}

// key is what a result is of. Of the results with the same one the latest counts.
type key struct {
	name   string
	limits limits
}

func (r result) key() key       { return key{r.Name, r.Limits} }
func (r result) commit() string { return r.Commit }

// stored are the results of a sample, by name.
func (p population) stored(b *book.Book[key, result], l limits) map[string]result {
	found := map[string]result{}
	for _, s := range p.sample() {
		if done, ok := b.Latest(key{s.name, l}); ok {
			found[s.name] = done
		}
	}
	return found
}

func (r result) found() int {
	n := 0
	for _, t := range r.Trials {
		if t.Found {
			n++
		}
	}
	return n
}

// Run makes the results that are missing in the checkout at root, and prints the table. dir is for temporary files.
func (r *Request) Run(ctx context.Context, root, dir string, stdout, stderr io.Writer) (err error) {
	all, err := readSubjects(root)
	if err != nil {
		return err
	}
	p := drawn(all, r.size)
	file := r.results
	if file == "" {
		file = filepath.Join(root, resultsFile)
	}
	b, err := book.Chosen(&book.Choices{Stored: r.table, Anew: r.anew, Journal: file}, result.key, result.commit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if !r.table {
		if err := r.searchAll(ctx, &trials.Workshop{Root: root, Dir: dir}, p, b, stderr); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, markdown(p, p.stored(b, r.limits), r.limits))
	return err
}

func (r *Request) searchAll(ctx context.Context, shop *trials.Workshop, p population, b *book.Book[key, result],
	stderr io.Writer) error {
	now, err := book.ThisCheckout()
	if err != nil {
		return err
	}
	var jobs []func() error
	for i, s := range p.sample() {
		if _, ok, err := b.Kept(key{s.name, r.limits}); err != nil {
			return err
		} else if ok || !r.wanted.MatchString(s.name) {
			continue
		}
		jobs = append(jobs, func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			made, err := r.search(ctx, shop, strconv.Itoa(i), s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			made.Commit = now.State
			_, _ = fmt.Fprintf(stderr, "%s, %s: found by %d of %d searches, %s\n", made.Name, made.Lock, made.found(),
				len(made.Trials), runs(made))
			return b.Add(made)
		})
	}
	return book.Do(r.workers, jobs)
}

// search searches the kinds of lock that have a mistake, up to the first in which it is found.
func (r *Request) search(ctx context.Context, shop *trials.Workshop, dir string, s subject) (made result, err error) {
	for i, kind := range s.kinds {
		made = result{Name: s.name, Lock: kind, Limits: r.limits}
		plan := trials.Plan{Lock: kind, Strategies: []string{string(spaces.StrategyMixed)}, Firsts: firstSeeds,
			CPU: r.limits.CPU, Runs: r.limits.Runs}
		if made.Trials, err = shop.Search(ctx, fmt.Sprint(dir, "-", i), s.overlay, plan); err != nil || made.found() > 0 {
			return made, err
		}
	}
	return made, nil
}

// population are the mistakes that count, and how many of them are the sample.
type population struct {
	byHand, mechanical   []subject // in a drawn order
	handSize, mechanSize int
}

func (p population) sample() []subject {
	return slices.Concat(p.byHand[:p.handSize], p.mechanical[:p.mechanSize])
}

// drawn draws the sample: two thirds of it are made by hand.
func drawn(all []subject, size int) population {
	var p population
	for _, s := range all {
		switch {
		case s.equivalent != "":
		case s.patch != nil:
			p.byHand = append(p.byHand, s)
		default:
			p.mechanical = append(p.mechanical, s)
		}
	}
	for _, some := range [][]subject{p.byHand, p.mechanical} {
		dice := rand.New(rand.NewPCG(1, 0))
		dice.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	}
	p.handSize = min(len(p.byHand), (2*size+2)/3)
	p.mechanSize = min(len(p.mechanical), size-p.handSize)
	return p
}
