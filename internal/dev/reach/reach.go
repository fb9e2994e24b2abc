package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"locksim/internal/dev/strategies/trials"
	"locksim/internal/journal"
	"locksim/scenarios/spaces"
)

// Request is what the flags ask for.
type Request struct {
	pattern, results string
	size, workers    int
	limits           limits
	table            bool // no search

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

// found counts the searches that found the mistake.
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
	j, err := journal.Open[result](file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	found := map[string]result{}
	for _, done := range j.Made() {
		if done.Limits == r.limits {
			found[done.Name] = done
		}
	}
	commit, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return fmt.Errorf("name the commit: %w", err)
	}
	shop := &trials.Workshop{Root: root, Dir: dir}
	var work errgroup.Group
	work.SetLimit(r.workers)
	fresh := make(chan result, len(p.sample()))
	for i, s := range p.sample() {
		if _, done := found[s.name]; done || r.table || !r.wanted.MatchString(s.name) {
			continue
		}
		work.Go(func() error {
			made, err := r.search(ctx, shop, strconv.Itoa(i), s)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			made.Commit = strings.TrimSpace(string(commit))
			fresh <- made
			_, _ = fmt.Fprintf(stderr, "%s, %s: found by %d of %d searches, %s\n", made.Name, made.Lock, made.found(),
				len(made.Trials), runs(made))
			return j.Add(made)
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	close(fresh)
	for made := range fresh {
		found[made.Name] = made
	}
	_, err = io.WriteString(stdout, markdown(p, found, r.limits))
	return err
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
