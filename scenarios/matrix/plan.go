package matrix

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Options say what a matrix contains.
type Options struct {
	// Scenarios are its rows, each with its source. Required.
	Scenarios []*file.Scenario
	// Locks are patterns, as of path.Match, for the names of its locks; one that
	// begins with "broken/" means specimens. Default: all locks that a scenario
	// names, and those of Extra.
	Locks []string
	// Specimens says that the specimens that a scenario names take part, as if
	// Locks had the pattern broken/* too.
	Specimens bool
	// Own says that each scenario is played with the lock that its file names, and with no other.
	Own bool
	// Modes are the fencing modes. Default: all.
	Modes []fence.Mode
	// Seeds are the seeds of every cell.
	Seeds outcome.Seeds
	// Extra are locks that the program was given. They take part in every scenario; one
	// that comes with locksim does so only if Locks has its name, and otherwise where it
	// is named.
	Extra []subject.Lock
}

// Plan is what has to be run for a matrix, and the order in which it is shown. It
// is made by [NewPlan] and not changed afterwards. As JSON it is everything that
// decides the result of a matrix; [ReadPlan] reads that.
type Plan struct {
	opts  Options
	known []string // the names of all locks, in the order of the columns
	pairs []pair
	jobs  []plannedJob
}

// pair is one scenario with one lock.
type pair struct {
	scenario *file.Scenario
	lock     subject.Lock
	named    bool // the scenario names this lock
}

// plannedJob is a job and the number of its pair.
type plannedJob struct {
	Job
	pair int
}

// A pair with many seeds has more than one job, so that a matrix of few pairs also
// keeps all cores busy: at most maxParts jobs of at least minSeeds seeds each. Only
// the seeds decide on the parts, since a cell's digest depends on them.
const (
	minSeeds = 20
	maxParts = 50
)

// ErrEmptyMatrix is returned when no scenario names any of the locks.
var ErrEmptyMatrix = errors.New("the matrix is empty: none of these scenarios names any of these locks")

// NewPlan finds out what has to be run. The errors are about the options: two
// scenarios of one name, a pattern that matches no lock, a scenario that names an
// unknown lock (an *InputError), and ErrEmptyMatrix.
func NewPlan(opts Options) (*Plan, error) {
	if len(opts.Modes) == 0 {
		opts.Modes = fence.Modes()
	}
	opts.Modes = sortedModes(opts.Modes)
	opts.Scenarios = slices.SortedStableFunc(slices.Values(opts.Scenarios),
		func(a, b *file.Scenario) int { return strings.Compare(a.Name, b.Name) })
	p := &Plan{opts: opts, known: knownLocks(opts.Extra)}
	if err := errors.Join(p.checkScenarios(), p.checkPatterns()); err != nil {
		return nil, err
	}
	for _, sc := range opts.Scenarios {
		if err := p.addScenario(sc); err != nil {
			return nil, err
		}
	}
	if len(p.pairs) == 0 {
		return nil, ErrEmptyMatrix
	}
	p.planJobs()
	return p, nil
}

// checkScenarios refuses scenarios with the same name, and those that cannot be sent to a worker.
func (p *Plan) checkScenarios() error {
	for i, sc := range p.opts.Scenarios {
		if len(sc.Source) == 0 {
			return fmt.Errorf("scenario %s has no source: a matrix takes scenarios that were read by Parse or Load", sc.Name)
		}
		if i > 0 && p.opts.Scenarios[i-1].Name == sc.Name {
			return fmt.Errorf("there are two scenarios called %s, %s and %s: give one of them another name", sc.Name,
				p.opts.Scenarios[i-1].File, sc.File)
		}
	}
	return nil
}

// checkPatterns refuses a pattern that matches no lock.
func (p *Plan) checkPatterns() error {
	for _, pattern := range p.opts.Locks {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is no pattern for locks: %w: write a name, or one with *, such as redlock*", pattern, err)
		}
		if !slices.ContainsFunc(p.known, func(name string) bool { return fits(pattern, name) }) {
			near := cmp.Or(prose.DidYouMean(pattern, p.known), prose.DidYouMean(kinds.BrokenPrefix+pattern, p.known))
			return fmt.Errorf("there is no lock %q: %slocksim list shows all", pattern, near)
		}
	}
	return nil
}

// knownLocks are kinds first, then the user's locks, then specimens.
func knownLocks(extra []subject.Lock) []string {
	names := kinds.Names()
	for _, l := range extra {
		names = append(names, l.Name)
	}
	return append(names, kinds.Specimens()...)
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// asked reports whether a pattern has a lock.
func (p *Plan) asked(name string) bool {
	return slices.ContainsFunc(p.opts.Locks, func(pattern string) bool { return fits(pattern, name) })
}

// everywhere reports whether one of the extra locks takes part in scenarios that do not name it.
func (p *Plan) everywhere(name string) bool {
	_, ours := kinds.Package(name)
	return !ours || slices.Contains(p.opts.Locks, name)
}

// elsewhere reports whether a lock comes with locksim in a package that the program does not have: a scenario of the
// library may name locks of several.
func (p *Plan) elsewhere(name string) bool {
	_, known := kinds.Package(name)
	return known && !slices.ContainsFunc(p.opts.Extra, func(l subject.Lock) bool { return l.Name == name })
}

// wanted reports whether a lock takes part.
func (p *Plan) wanted(name string) bool {
	if p.asked(name) {
		return true
	}
	if strings.HasPrefix(name, kinds.BrokenPrefix) {
		return p.opts.Specimens || p.opts.Own && len(p.opts.Locks) == 0
	}
	return len(p.opts.Locks) == 0
}

// addScenario adds the pairs of one row.
func (p *Plan) addScenario(sc *file.Scenario) error {
	named := sc.LockNames()
	names := slices.Clone(named)
	if p.opts.Own {
		names = []string{sc.Lock.Kind}
	}
	for _, l := range p.opts.Extra {
		if l.TestsFence() && !slices.Contains(p.opts.Locks, l.Name) {
			continue
		}
		if !p.opts.Own && !slices.Contains(names, l.Name) && p.everywhere(l.Name) {
			names = append(names, l.Name)
		}
	}
	var row []pair
	for _, name := range names {
		if sc.InLibrary() && p.elsewhere(name) {
			continue
		}
		l, err := redislocks.Find(name, p.opts.Extra)
		if err != nil {
			return sc.ErrorAt(lockPos(sc, name), "%v", err)
		}
		if p.wanted(name) {
			row = append(row, pair{scenario: sc, lock: l, named: slices.Contains(named, name)})
		}
	}
	p.addRow(row)
	return nil
}

// addRow adds the pairs of one row, in the order of the columns.
func (p *Plan) addRow(row []pair) {
	slices.SortStableFunc(row, func(a, b pair) int { return p.order(a.lock, b.lock) })
	p.pairs = append(p.pairs, row...)
}

// lockPos is the position at which a scenario names a lock; of lock.kind if it names a group.
func lockPos(sc *file.Scenario, name string) faults.Pos {
	if i := slices.Index(sc.Locks, name); i >= 0 {
		return sc.Pos(fmt.Sprintf("locks[%d]", i))
	}
	return sc.Pos("lock.kind")
}

// order compares two locks by the order of the columns.
func (p *Plan) order(a, b subject.Lock) int {
	return cmp.Compare(slices.Index(p.known, a.Name), slices.Index(p.known, b.Name))
}

// planJobs cuts the work into jobs, the longest first, so that no core waits long
// for another at the end.
func (p *Plan) planJobs() {
	for i, pair := range p.pairs {
		modes := pair.modes(p.opts.Modes)
		if len(modes) == 0 {
			continue
		}
		for _, seeds := range p.opts.Seeds.Parts(max(minSeeds, (p.opts.Seeds.Len()+maxParts-1)/maxParts)) {
			j := Job{File: pair.scenario.File, Source: string(pair.scenario.Source), Lock: pair.lock.Name, Modes: modes,
				Seeds: seeds}
			j.Weight = j.Runs() * pair.work()
			p.jobs = append(p.jobs, plannedJob{j, i})
		}
	}
	slices.SortStableFunc(p.jobs, func(a, b plannedJob) int { return cmp.Compare(b.Weight, a.Weight) })
}

// modes are the asked modes in which the lock can run.
func (p pair) modes(asked []fence.Mode) []fence.Mode {
	if p.lock.TestsFence() {
		return subject.DefaultModes(p.lock)
	}
	return slices.DeleteFunc(slices.Clone(asked), func(m fence.Mode) bool { return !p.lock.Runs(m) })
}

// work estimates the time of a run, compared with other pairs, from the number of its messages.
func (p pair) work() int {
	nodes := max(p.scenario.World.Redis, p.lock.Nodes())
	messages := nodes * p.scenario.World.Clients * p.scenario.Workload.Rounds
	if slices.ContainsFunc(p.lock.Servers, func(s subject.Servers) bool { return s.Kind.Stop != nil }) {
		return realServer * messages
	}
	return messages
}

// realServer is about how many times as long a message takes that a program outside answers, as PostgreSQL does, and
// not a model of it.
const realServer = 30

// Runs is the number of runs of a job.
func (j Job) Runs() int { return len(j.Modes) * j.Seeds.Len() }

// Jobs are the jobs of the plan, longest first. The caller owns the slice.
func (p *Plan) Jobs() []Job {
	jobs := make([]Job, len(p.jobs))
	for i, j := range p.jobs {
		jobs[i] = j.Job
	}
	return jobs
}

// Timing is the time of a job; id is its number.
func (p *Plan) Timing(id int, wall time.Duration) matrices.JobTiming {
	pair := p.pairs[p.jobs[id].pair]
	return matrices.JobTiming{Scenario: pair.scenario.Name, Lock: pair.lock.Name, Runs: p.jobs[id].Runs(),
		WallSeconds: wall.Seconds()}
}

// Literally is a pattern, as of path.Match, that only the name itself matches.
func Literally(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// Scenarios are the rows of the plan, in order. The caller owns the slice.
func (p *Plan) Scenarios() []*file.Scenario {
	var rows []*file.Scenario
	for i, pair := range p.pairs {
		if i == 0 || p.pairs[i-1].scenario != pair.scenario {
			rows = append(rows, pair.scenario)
		}
	}
	return rows
}

// Columns are the columns of the plan for the pages of a matrix, in order.
func (p *Plan) Columns() []matrices.Lock {
	var columns []matrices.Lock
	for _, l := range p.Locks() {
		columns = append(columns, matrices.Lock{Name: l.Name, Nodes: l.Nodes(), Tokens: l.Tokens, Promise: l.Promise})
	}
	return columns
}

// Locks are the columns of the plan, in order. The caller owns the slice.
func (p *Plan) Locks() []subject.Lock {
	var columns []subject.Lock
	for _, pair := range p.pairs {
		if !slices.ContainsFunc(columns, func(l subject.Lock) bool { return l.Name == pair.lock.Name }) {
			columns = append(columns, pair.lock)
		}
	}
	slices.SortFunc(columns, p.order)
	return columns
}
