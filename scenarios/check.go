package scenarios

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/internal/linked"
	"locksim/internal/prose"
	"locksim/scenarios/cause"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// Check plays a lock under schedules that are drawn at random, and fails the test
// with the first schedule under which the lock breaks its promise. It reports the
// reason, the story, the minimal schedule, and the command that replays it. Check
// stores the failure in a file, which this and every later run of the test try
// first. A stored failure that no longer fails is reported once, and is tried
// silently after that. What is drawn follows from the lock and the options; see
// [Discover]. A lock that promises nothing is judged for everything under every
// fault, and a failure of it says so.
//
// A panic of the lock is a violation. One in a goroutine that the lock has started ends the process, and the next run
// of the test reports it: it plays the run, and smaller ones, in processes of their own.
//
// A failing run is made ten times, and every twentieth run that passes is made twice. One that differs is made ten
// times too: if one of the ten breaks the promise, that is the failure, and else the run is neither evidence nor a
// failure. If more than one run in a hundred differs, the test fails with the first event that does. A lock that comes
// with locksim must not differ at all.
//
// Rapid chooses the seeds, so its flags apply: -rapid.checks=1000 makes ten times
// as many runs, -rapid.seed repeats them, -rapid.failfile repeats a failure. A pass
// means that these runs showed no violation, with the bound that the log gives. It
// does not mean that there is none. The log also says how many further runs would be
// of a kind that was not seen: see [tally.Courses.Novelty]. A pass in which clients hardly ever contended,
// or faults hardly ever struck, is no evidence, and fails the test. So does one in which a server did not know a
// command of the lock, or no Release, or no Extend that was asked for, ever succeeded.
//
// A run without a verdict, since it was frozen, left goroutines behind or came to a limit, is neither evidence nor a
// failure. If more than one run in a hundred is so, or more than ten are, the test fails.
//
// Runs are made one after another, also if several tests ask for them.
func Check(t testing.TB, l Lock, opts Options) {
	t.Helper()
	c := newCheckup(t, l, opts)
	if c.playAlone() {
		return
	}
	last := c.openRunning()
	defer c.running.close()
	c.tryInterrupted(last)
	c.tryStored()
	c.discover()
	c.playAgain(last)
	c.tryCalm()
	switch {
	case c.failure != "":
	case opts.Seed != 0:
		c.trySeeds()
	default:
		c.tryRapid()
	}
	c.conclude()
}

// checkup is the state of one Check.
type checkup struct {
	t     testing.TB
	name  string // of the test
	lock  Lock
	dir   string
	page  func(w io.Writer, o *Outcome, replay string) error // nil for none
	text  func(w io.Writer, o *Outcome, replay string) error // Options.Markdown; nil for none
	space Space                                              // as it was asked for, before discover
	plan  runPlan
	seed  uint64 // of the first run; 0 leaves it to rapid
	tally tally.Tally
	// unknown counts the runs in which a server did not know something, those that are not in the tally too.
	unknown map[string]int
	// courses are those of the runs in the tally.
	courses tally.Courses
	// running has the seed of the run that is played; nil for none.
	running *running
	// blocks counts the blocks of the plan that were begun since the time began. late says that runs
	// were left out because the deadline was near.
	blocks int
	began  time.Time
	clock  clock
	late   bool
	stale  bool // a stored failure fails again
	// stack is that of the goroutine by which the process ends in the run of the failure; "" if it does not.
	stack string
	// failure describes in full what is wrong with the lock; "" if nothing is so far.
	failure string
}

// newCheckup ends the test if the options make no sense.
func newCheckup(t testing.TB, l Lock, opts Options) *checkup {
	t.Helper()
	if opts.Claims {
		l = l.ClaimsAlone()
	}
	l = l.Cached()
	space, err := opts.space()
	if err != nil {
		t.Fatal(err)
	}
	c := &checkup{
		t: t, name: t.Name(), lock: l, dir: opts.dir(), page: opts.Page, text: opts.Markdown, space: space,
		plan: planRuns(opts.Runs), seed: opts.Seed, began: time.Now(), //nolint:forbidigo // to end before the test's deadline
	}
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		c.clock.end, _ = timed.Deadline()
	}
	return c
}

// discover ends the test if nothing can be drawn for the lock.
func (c *checkup) discover() {
	c.t.Helper()
	if c.failure != "" {
		return
	}
	c.running.note(noted{What: learning})
	space, err := search.Discover(c.lock, c.space)
	if err != nil {
		c.t.Fatal(err)
	}
	c.space = space
}

// conclude fails the test, or logs what its pass means.
func (c *checkup) conclude() {
	c.t.Helper()
	switch {
	case c.failure != "" && len(c.unknown) > 0:
		c.t.Fatalf("%s: %s.\n%s", c.lock.Name, prose.Commas(slices.Sorted(maps.Keys(c.unknown))), c.failure)
	case c.failure != "":
		c.t.Fatal(c.failure)
	case c.tally.Unproven() != "":
		c.t.Fatalf("%s: %s.\nThese runs do not test the %s.\n%s", c.lock.Name, c.tally.Unproven(), c.trial().what,
			c.verdict())
	case c.late && c.tally.TooMany(c.tally.Made()) != "":
		c.t.Fatalf("%s: %s\n%s", c.lock.Name, c.tally.TooMany(c.tally.Made()), c.verdict())
	case c.worthless():
		c.t.Fatalf("%s\nThese runs do not test the %s: %s.\nwhy runs did not test it: %s",
			c.verdict(), c.trial().what, c.trial().seldom, counts(c.tally.Vacuous))
	}
	c.t.Log(c.verdict())
}

// worthless reports whether fewer than one in twenty of many runs are evidence.
func (c *checkup) worthless() bool {
	const least = 20
	return c.tally.Runs >= least && c.tally.Evidence*20 < c.tally.Runs
}

func counts(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(of[b]-of[a], strings.Compare(a, b))
	})
	for i, k := range keys {
		keys[i] = k + " " + prose.Thousands(of[k])
	}
	return strings.Join(keys, ", ")
}

// verdict says in a sentence what the runs have shown.
func (c *checkup) verdict() string {
	t := &c.tally
	drawn := map[string]int{}
	for kind, n := range t.Faults {
		drawn[kind] = n.Planned
	}
	text := ""
	if doubt := t.Doubt(); doubt != "" {
		text = "DOUBT: " + doubt + "\n"
	}
	text += fmt.Sprintf("%s: no violation in %s. %s of them really tested the %s (%s); with 95 %% confidence fewer than "+
		"%s of such runs break it (faults drawn: %s)",
		c.lock.Name, prose.Count(t.Runs, "run"), prose.Thousands(t.Evidence), c.trial().what, c.trial().when,
		tally.Percent(tally.RateBound(0, t.Evidence)), counts(drawn))
	if c.lock.TestsFence() {
		return text + c.fenceTried()
	}
	if c.lock.Keys == nil {
		if learnt, err := search.Learn(c.lock, c.space); err == nil {
			text += "\n" + learnt.String()
		}
	}
	for _, runs := range t.Uncounted() {
		text += "\n" + runs
	}
	if asked := search.Unasked(c.lock, c.space); len(asked) > 0 {
		text += "\nnot asked: " + strings.Join(asked, "; ")
	}
	for _, noted := range search.Noted(c.lock, c.space) {
		text += "\nnoted: " + noted
	}
	if len(c.courses) > 0 {
		text += "\nnot seen yet: " + c.courses.Novelty().String()
	}
	for _, line := range t.ByCall() {
		text += "\n" + line
	}
	if t.Nearest != nil {
		text += "\nnearest miss: " + t.Nearest.String()
	}
	if t.NoticedLate >= time.Millisecond { // less is the way of an answer
		text += "\nlosses of the lock were noticed at most " + prose.Seconds(t.NoticedLate) + " late"
		if d := c.lock.DetectedWithin(); d != "" {
			text += ", and its Detection is " + d
		}
	}
	if load := t.Load(); load != "" {
		text += "\n" + load
	}
	if by := t.ByClass(); by != "" {
		text += "\nruns that tested the lock by class of fault, and how many of such runs may break it (95 % confidence): " +
			by
	}
	if c.space.Faults == nil && c.space.Replicas == 0 {
		text += "\nno failovers were drawn: the lock does not follow the name \"" + subject.Primary + "\" to another node"
	}
	if of := linked.Text(linked.Clients()); of != "" {
		text += "\n" + of
	}
	return text + c.cutShort()
}

// trial is what is on trial, in words: what it is called, when a run tests it, and why runs hardly do.
func (c *checkup) trial() struct{ what, when, seldom string } {
	if c.lock.TestsFence() {
		return struct{ what, when, seldom string }{"fence", "it refused a stale operation", "it refused hardly any operation"}
	}
	return struct{ what, when, seldom string }{"lock", "two clients wanted it, and a fault was felt",
		"in hardly any of them was a client kept out and a fault felt"}
}

// fenceTried says what was tried with a store under test, and what was not asked of it.
func (c *checkup) fenceTried() string {
	t := &c.tally
	text := fmt.Sprintf("\ntried, by the rule %s: %s", c.lock.Data.Rule, t.Fenced.String())
	if missing := t.Fenced.Missing(c.lock.Data.Rule); len(missing) > 0 {
		text += "\nnot tried: " + strings.Join(missing, "; ")
	}
	if asked := search.Unasked(c.lock, c.space); len(asked) > 0 {
		text += "\nnot asked: " + strings.Join(asked, "; ")
	}
	for _, runs := range t.Uncounted() {
		text += "\n" + runs
	}
	if by := t.ByClass(); by != "" {
		text += "\nruns that tested the fence by class of fault, and how many of such runs may break it (95 % confidence): " +
			by
	}
	return text + c.cutShort()
}

// cutShort says how many runs were left out since the deadline was near; "" if none were.
func (c *checkup) cutShort() string {
	if !c.late {
		return ""
	}
	return fmt.Sprintf("\nonly %s of %s runs were made: the test's deadline is near, see -timeout",
		prose.Thousands(c.tally.Runs), prose.Thousands(c.plan.runs()))
}

// outOfTime reports whether the test's deadline may come before another block ends.
func (c *checkup) outOfTime() bool {
	if c.clock.end.IsZero() || c.blocks == 0 {
		return false
	}
	now := time.Now() //nolint:forbidigo // to end before the test's deadline
	const blocks = 5
	if c.clock.end.Sub(now) < blocks*now.Sub(c.began)/time.Duration(c.blocks) {
		c.late = true
	}
	return c.late
}

// tryBlock plays a block of consecutive seeds, up to the first that fails.
func (c *checkup) tryBlock(first uint64) {
	if c.outOfTime() {
		return
	}
	c.blocks++
	c.try(c.running.noting(drawn,
		search.Drawn(c.lock, c.space, outcome.Seeds{First: first, Last: first + uint64(c.plan.block-1)})))
}

// tryCalm plays the runs without faults.
func (c *checkup) tryCalm() {
	if c.failure == "" {
		c.tryUncounted(search.PlayEach(search.InCalm(c.lock), c.running.noting(calm, search.CalmCases(c.lock, c.space))))
	}
}

// tryUncounted examines runs up to the first that fails. They are not counted, since
// they are not drawn at random.
func (c *checkup) tryUncounted(trials iter.Seq[*search.Trial]) {
	c.clock.begin()
	for t := range trials {
		c.clock.ran()
		c.noteUnknown(t)
		switch {
		case t.Err != nil:
			c.tally.Add(t.Failed(t.Err))
			c.failure = c.unjudged(t)
		case t.Borne:
			c.tally.Add(t.Tally())
			c.failure = c.tooMany()
		case len(t.Violations) > 0 || t.Difference != nil:
			c.fail(t)
		default:
			n := t.Tally()
			c.tally.Add(n.WithoutFaults())
		}
		if c.failure != "" {
			return
		}
	}
}

// try plays cases and counts the runs, up to the first that shows something wrong
// with the lock, which becomes the failure.
func (c *checkup) try(cases iter.Seq[search.Case]) {
	c.clock.begin()
	for t := range search.Trials(c.lock, cases) {
		c.clock.ran()
		c.noteUnknown(t)
		c.tally.Add(t.Tally())
		c.courses.Add(t.Courses())
		if t.Err != nil {
			if c.failure = c.unjudged(t); c.failure != "" {
				return
			}
			continue
		}
		switch {
		case t.Borne:
			if c.failure = c.tooMany(); c.failure == "" {
				continue
			}
		case len(t.Violations) == 0 && t.Difference == nil && !c.clock.timeFor(failure.Replays):
			c.late = true // a failure of the next one could not be examined
		case len(t.Violations) == 0 && t.Difference == nil:
			continue
		default:
			c.fail(t)
		}
		return
	}
}

// unjudged is what the test fails with after a run that has ended with an error, which is counted: "" if the search
// goes on.
func (c *checkup) unjudged(t *search.Trial) string {
	if search.NoVerdict(t.Err) == "" {
		return c.noRun(t.Case, t.Err)
	}
	if many := c.tooMany(); many != "" {
		return many + "\nThe last of them: " + c.noRun(t.Case, t.Err)
	}
	return ""
}

// tooMany is what the test fails with if more runs were borne than may be; "" if not.
func (c *checkup) tooMany() string {
	many := c.tally.TooMany(c.plan.runs())
	if many == "" {
		return ""
	}
	return c.lock.Name + ": " + many
}

// noteUnknown counts what servers did not know in a run.
func (c *checkup) noteUnknown(t *search.Trial) {
	c.unknown = tally.AddCounts(c.unknown, t.Tally().Unknown)
}

// fail examines the failure of a trial and reports it.
func (c *checkup) fail(t *search.Trial) {
	f := search.NewFound(t)
	c.announce(&f)
	c.clock.begin()
	within := func(runs int) bool {
		c.clock.ran()
		return c.clock.timeFor(runs)
	}
	if err := f.Examine(within); err != nil {
		c.failure = c.noRun(t.Case, err)
		return
	}
	c.failure = c.report(&f.Failure)
}

// report stores a failure, if it can be tried again, and describes it in full.
func (c *checkup) report(f *failure.Failure) string {
	if len(f.Violations) == 0 {
		return f.Text(play.Unseeded(), c.commandFrom(f.Seed))
	}
	path, err := store(c.dir, c.name, f)
	if err != nil {
		return f.Text(play.Unseeded(), err.Error(), c.commandFrom(f.Seed))
	}
	c.explain(f)
	if f.Run.Cause = f.Outcome.Cause; f.Run.Cause != nil {
		_, _ = store(c.dir, c.name, f) // it is stored already, without
	}
	return c.describe(f, path, "stored in "+path+", which this test tries first from now on")
}

// explain adds to a failure when it became inevitable, for its page. It plays hundreds of continuations in this
// process, in which a lock may end it that has not ended it before: therefore the failure has to be stored before. Of
// runs that take long that is left out.
func (c *checkup) explain(f *failure.Failure) {
	if c.page == nil && c.text == nil {
		return
	}
	runs := checkCause.Runs(f.Outcome.Modes[len(f.Outcome.Modes)-1].Events)
	if time.Duration(runs)*c.clock.mean() > longest || !c.clock.timeFor(runs) {
		f.LeftOut = append(f.LeftOut, fmt.Sprintf("when it became inevitable (%s)", prose.Count(runs, "run")))
		return
	}
	if found, err := cause.Find(f.Outcome, checkCause, cause.Here(f.Outcome.Scenario, c.lock)); err == nil {
		f.Outcome.Cause = found // without it the page has everything else
	}
}

// longest is how long the continuations of a failure may take, at the pace of the runs so far.
const longest = time.Minute

// checkCause bounds the continuations of a failure to a second or two.
var checkCause = cause.Options{Events: 500_000, Continuations: 50}

// describe describes a failure that is stored at a path in full. where says so.
func (c *checkup) describe(f *failure.Failure, path, where string) string {
	lines := []string{where, c.pageOf(f, path), c.stepByStep(path), "replay: " + c.command()}
	if left := c.leftOut(f.LeftOut); left != "" {
		lines = append([]string{left}, lines...)
	}
	if c.stack != "" {
		lines = append([]string{"stack of the goroutine that has ended the process:\n" + indent(c.stack)}, lines...)
	}
	for _, client := range linked.Clients() {
		if client.Differs() {
			lines = append([]string{client.String()}, lines...)
		}
	}
	if !slices.ContainsFunc(f.Outcome.Modes, func(m ModeRun) bool { return m.History.Calm }) && c.lock.PromisesNothing() {
		lines = append([]string{c.noPromise()}, lines...)
	}
	return f.Text(play.Unseeded(), lines...)
}

// noPromise is the advice to state a promise. A lock that fails without any fault
// needs none, since it is wrong whatever it promises.
func (c *checkup) noPromise() string {
	return fmt.Sprintf("%s has no Promise, so it is judged for everything, also for right data in mode %s, which hardly "+
		"any lock can keep:\n"+
		"  state in its Traits what it promises: Promise: lock.LeasePromise(), for a lock with a TTL, or "+
		"lock.SessionPromise(), for one of a session of a database,\n"+
		"  without what it does not promise, or Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, "+
		"lock.FaultPartition}}", c.lock.Name, c.lock.JudgedMode())
}

// pageOf writes the page of a failure that is stored at a path beside it, and says
// where, or how to ask for it.
func (c *checkup) pageOf(f *failure.Failure, path string) string {
	line := "page: " + pagePath(path)
	if c.page == nil {
		line = "page: set Options.Page, to func(w io.Writer, o *scenarios.Outcome, replay string) error { return " +
			"html.Run(w, o, reports.Options{Replay: replay}) }"
	} else if err := c.writeBeside(pagePath(path), c.page, f); err != nil {
		line = "page: it cannot be written: " + err.Error()
	}
	if c.text != nil {
		if err := c.writeBeside(markdownPath(path), c.text, f); err != nil {
			line += "\nMarkdown: it cannot be written: " + err.Error()
		}
	}
	return line
}

// writeBeside writes a failure in another form into a file.
func (c *checkup) writeBeside(path string, form func(io.Writer, *Outcome, string) error, f *failure.Failure) error {
	var text bytes.Buffer
	if err := form(&text, f.Outcome, c.command()); err != nil {
		return err
	}
	return replaceFile(path, text.Bytes())
}

// simFolder is where locksim init puts the command locksim with the user's own lock, below the folder of go.mod.
const simFolder = "locksimtest/sim"

// stepByStep is the command that shows a stored failure step by step, to be run in the folder of go.mod. For a lock
// that does not come with locksim it is the user's own command, which locksim init writes.
func (c *checkup) stepByStep(path string) string {
	root, path := fromModule(path)
	if kinds.Reserved(c.lock.Name) {
		return "step by step: go run locksim/cmd/locksim replay " + path + " --timeline"
	}
	command := "go run ./" + simFolder + " replay " + path + " --timeline"
	if _, err := os.Stat(filepath.Join(root, simFolder)); err == nil {
		return "step by step: " + command
	}
	return "step by step: let locksim init write the folder " + simFolder + ", a locksim that has your lock. Then, " +
		"where go.mod is:\n  " + command
}

// fromModule is the folder of the module that has the working directory, and a path from there.
func fromModule(path string) (root, from string) {
	here, err := os.Getwd()
	if err != nil || filepath.IsAbs(path) {
		return here, path
	}
	for root = here; filepath.Dir(root) != root; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
			continue
		}
		if from, err := filepath.Rel(root, filepath.Join(here, path)); err == nil {
			return root, filepath.ToSlash(from)
		}
	}
	return here, path
}

// command is the command that runs the test again, also after a pass, and that tries the stored failures first.
func (c *checkup) command() string {
	return fmt.Sprintf("go test -count=1 -run '%s'", c.pattern())
}

// pattern is that of the test alone, for -run.
func (c *checkup) pattern() string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(c.name), "/", "$/^") + "$"
}

// commandFrom is the last line with the command that runs the test again from a seed on: nothing is stored.
func (c *checkup) commandFrom(seed uint64) string {
	return fmt.Sprintf("replay: %s, with Options{Seed: %d}", c.command(), seed)
}

// noRun describes a run without a verdict: the lock panicked, did not end, or left
// a goroutine or a connection behind.
func (c *checkup) noRun(of search.Case, why error) string {
	source, err := file.Format(of.Scenario)
	if err != nil {
		source = []byte(err.Error())
	}
	return fmt.Sprintf("seed %d: a run of %s has no verdict: %v\n\nschedule, as it was drawn:\n%s\n%s",
		of.Seed, c.lock.Name, why, indent(string(source)), c.commandFrom(of.Seed))
}

// indent is a text with two spaces before each line.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}
