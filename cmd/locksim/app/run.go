package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/works"
	"locksim/faults"
	"locksim/internal/live"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// runFlags are the flags of the run command.
type runFlags struct {
	lock    string
	fence   string
	seed    uint64
	fencing string
	// byLock says that the modes are the default ones of the lock, not those of fencing.
	byLock bool
	out    string
	keep   bool
	junit  string
	json   bool
	once   bool
	// markdown asks for Markdown instead of the report.
	markdown bool
	// cause asks for when a violation became inevitable.
	cause bool
	// timeline asks for the timeline instead of the report.
	timeline bool
	liveFlag
}

func runCommand(s *shell) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SCENARIO|FILE.yaml",
		Short: "Run a scenario and judge it",
		Long: `Run plays a scenario with a lock under each fencing mode, with the same seed and
the same faults, and reports how each run ended and why. It makes every run twice and
compares the two, so that the result can be repeated.

With --live it plays the scenario on real servers, with a process for each client, in
real time. It fails if a run ends as no seed of the simulated world does: see
docs/how-to/live.md.

With --cause it also says when a violation became inevitable: it plays the run again up
to many of its steps, draws all later delays and faults anew some 200 times from each,
and shows how many of these continuations end as badly. That takes up to a minute.

One of the files of --out, trace.chrome.json, opens in a trace viewer, such as
https://ui.perfetto.dev. Each fencing mode is a process there, and times are virtual.`,
		Example: `  locksim run gc-pause
  locksim run gc-pause --timeline
  locksim run gc-pause --cause
  locksim run gc-pause --lock single --seed 7
  locksim run gc-pause --live --times 5
  locksim run ./my.yaml --fencing none,seal --out /tmp/run
  locksim run gc-pause --markdown >>"$GITHUB_STEP_SUMMARY"
  locksim run calm --json
  locksim run gc-pause --junit result.xml`,
		Args:              exactly(1, "one scenario, by its name or its file"),
		ValidArgsFunction: completion{s.Roster}.scenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.byLock = !cmd.Flags().Changed("fencing")
			if err := f.liveFlag.check(cmd.Flags()); err != nil {
				return err
			}
			return f.run(s, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.lock, "lock", "", "`KIND` of lock to run (default: the scenario's own)")
	flags.StringVar(&f.fence, "fence", "", fenceUsage+" (default: the scenario's own, or s0)")
	flags.Uint64Var(&f.seed, "seed", 1, "`N` decides everything that is random")
	flags.StringVar(&f.fencing, "fencing", "", "fencing `MODES` to compare, with commas (default: "+
		runfiles.JoinModes(subject.DefaultModes(subject.Lock{Traits: subject.Traits{Tokens: true}}))+", and "+
		runfiles.JoinModes(subject.DefaultModes(subject.Lock{}))+" for a lock without tokens)")
	flags.StringVar(&f.out, "out", "", "also write run.json, its record, report.txt, report.md, report.html and the "+
		"traces into `DIR`")
	flags.BoolVar(&f.keep, "keep", false, keepUsage)
	flags.StringVar(&f.junit, "junit", "", "also write JUnit XML into `FILE`: a test case for each mode")
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report; see locksim schema run")
	flags.BoolVar(&f.markdown, "markdown", false, "print Markdown with a diagram instead of the report, for a pull "+
		"request or the summary of a CI job")
	flags.BoolVar(&f.timeline, "timeline", false, "print a timeline instead of the report: a narrow column for each "+
		"client and node")
	flags.BoolVar(&f.cause, "cause", false, "also say from which step on a violation was inevitable, by continuations "+
		"with other delays and faults")
	flags.BoolVar(&f.once, "once", false, "make each run once, without the check that a second one is equal")
	f.liveFlag.add(flags, "play on real servers and processes, in real time, in place of the simulated world", anyScale, 1,
		"runs, and report the worst")
	completion{s.Roster}.flags(cmd)
	return cmd
}

func (f runFlags) oneForm() error {
	var asked []string
	for _, form := range []struct {
		flag string
		on   bool
	}{{"--json", f.json}, {"--markdown", f.markdown}, {"--timeline", f.timeline}} {
		if form.on {
			asked = append(asked, form.flag)
		}
	}
	if len(asked) > 1 {
		return fmt.Errorf("%s: choose one", strings.Join(asked, " and "))
	}
	return nil
}

func (f runFlags) run(s *shell, name string) error {
	if err := f.oneForm(); err != nil {
		return err
	}
	if f.cause && f.live {
		return errors.New("--cause and --live: choose one, since a run on real servers has no continuations")
	}
	if strings.HasSuffix(name, ".json") {
		return fmt.Errorf("%s: run takes a scenario, which is YAML; locksim replay %[1]s makes a stored run again",
			console.Quote(name))
	}
	t, err := f.task(s, name)
	if err != nil {
		return err
	}
	if f.keep && f.out != "" {
		return publish.ErrKeepAndOut
	}
	origin := fmt.Sprintf("s%d", t.opts.Seed)
	if f.live {
		origin = "live"
	}
	k := publish.NewFolder(f.keep, f.out, "run", t.scenario.Name, t.lock.Name, origin)
	f.out = k.Dir
	if err := outfile.PrepareFile("junit", f.junit); err != nil {
		return err
	}
	if err := outfile.PrepareFolder("out", f.out); err != nil {
		return err
	}
	o, err := f.play(s, t)
	if err != nil {
		return err
	}
	never := neverFired(o)
	if never != nil && o.Live == nil {
		return never
	}
	if f.cause {
		if err := findCause(s, o, t); err != nil {
			return err
		}
	}
	if err := f.publish(s, o, t, k); err != nil || never == nil {
		return err
	}
	s.Note(never.Error())
	return console.ErrUnexpected
}

// findCause adds to an outcome when its violation became inevitable, or notes that there is none.
func findCause(s *shell, o *outcome.Outcome, t *task) error {
	w, err := publish.NewCrew(s.Console, publish.Options{})
	if err != nil {
		return err
	}
	defer w.Close()
	if err := works.Cause(w, o); err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("play continuations of the run: %w", err),
			Seed: fmt.Sprintf("seed %d", o.Seed), Replay: t.replay + " --cause"}
	}
	if o.Cause == nil {
		s.Note("--cause: no mode of this run ended with a violation, so that nothing became inevitable")
	}
	return nil
}

// task is a run to be made, from the flags.
type task struct {
	scenario *file.Scenario
	lock     subject.Lock
	opts     play.RunOptions
	replay   string  // the command that makes it again
	scale    float64 // of a live run
}

// at is the task on real servers, at a scale.
func (t task) at(scale float64) *task {
	t.scale, t.replay = scale, strings.TrimSuffix(t.replay, runfiles.LiveFlags(&outcome.Live{Scale: t.scale}))+
		runfiles.LiveFlags(&outcome.Live{Scale: scale})
	return &t
}

func (f runFlags) task(s *shell, name string) (*task, error) {
	var modes []fence.Mode
	if !f.byLock {
		var err error
		if modes, err = parseModes(f.fencing); err != nil {
			return nil, err
		}
	}
	sc, err := s.Load(name)
	if err != nil {
		return nil, err
	}
	l, err := s.FindSubject(sc, f.lock, f.fence)
	if err != nil {
		return nil, err
	}
	if l.TestsFence() { // which a flag may have named
		sc = sc.Clone()
		sc.Lock.Kind, sc.Store = l.Kind(), l.Fence()
	}
	if f.byLock {
		modes = subject.DefaultModes(l)
	}
	t := &task{scenario: sc, lock: l, opts: play.RunOptions{Seed: f.seed, Modes: modes, Repeat: repeat(f.once)}}
	t.replay = fmt.Sprintf("%s run %s --lock %s --seed %d --fencing %s", s.Command(), console.Quote(name),
		console.Quote(l.Name), f.seed, runfiles.JoinModes(modes))
	if f.live {
		t = t.at(cmp.Or(f.scale, live.ScaleFor(sc, l, live.DefaultScale)))
	}
	return t, nil
}

func repeat(once bool) outcome.Repeat {
	if once {
		return outcome.Once
	}
	return outcome.Twice
}

// play makes the runs. An error that is not about the input is a failure of the
// harness, or comes from a lock whose random source the seed does not control.
func (t *task) play(s *shell) (*outcome.Outcome, error) {
	defer s.Busy(fmt.Sprintf("running %s with seed %d", t.scenario.Name, t.opts.Seed))()
	o, err := play.Run(t.scenario, t.lock, t.opts)
	if err == nil {
		return o, nil
	}
	if _, ok := errors.AsType[*file.InputError](err); ok {
		return nil, err
	}
	return nil, &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", t.opts.Seed), Replay: t.replay}
}

// play makes the runs in the world that the flags say.
func (f runFlags) play(s *shell, t *task) (*outcome.Outcome, error) {
	if f.live {
		return f.playLive(s, t)
	}
	return t.play(s)
}

// neverFired is an error for each fault that struck in none of the runs: such a run
// does not show what the scenario is about.
func neverFired(o *outcome.Outcome) error {
	var errs []error
	for _, i := range o.NeverFired() {
		f := o.Scenario.Faults[i]
		pos, what := f.Pos, "choose an earlier time, or another seed"
		if f.When != nil {
			passed := passedPoints(o, f.When.Client)
			pos, what = o.Scenario.Pos(fmt.Sprintf("faults[%d].when.event", i)), "choose an earlier passing, or another seed"
			if !slices.Contains(passed, f.When.Name) {
				what = fmt.Sprintf("%s never passes %s: %s", f.When.Client, f.When.Name, prose.Choose(f.When.Name, passed))
			}
		}
		errs = append(errs, o.Scenario.ErrorAt(pos, "fault %d struck in no mode with lock %s and seed %d (%v): "+
			"no run reached its trigger: %s", i+1, o.Lock, o.Seed, f, what))
	}
	return errors.Join(errs...)
}

// passedPoints are the events that a client has passed in any of the runs, at which a fault
// could have struck: in the order of their first occurrence.
func passedPoints(o *outcome.Outcome, client string) []string {
	var out []string
	for _, m := range o.Modes {
		if m.Trace == nil {
			continue
		}
		for _, e := range m.Trace.Events {
			mark, ok := e.What.(trace.Mark)
			if !ok || e.Actor != client || slices.Contains(out, mark.Name()) {
				continue
			}
			if mark.Step == trace.Point || slices.Contains(faults.Events(), mark.Name()) {
				out = append(out, mark.Name())
			}
		}
	}
	return out
}

// publish writes the files and the report. What cannot be written into a file is printed all
// the same. It returns errUnexpected where a label is not as expected.
func (f runFlags) publish(s *shell, o *outcome.Outcome, t *task, k publish.Folder) error {
	opt := reports.Options{Repeat: t.opts.Repeat, Replay: t.replay}
	stored := f.store(s, o, t)
	if f.out != "" && stored == nil && o.Live == nil {
		opt.Replay = fmt.Sprintf("%s replay %s", s.Command(), console.Quote(runfiles.Path(f.out)))
	}
	shown := f.show(s, o, opt)
	if shown != nil {
		opt.Colour = reports.Plain
		_ = terminal.Run(s.Err, o, opt) // nothing else can take it
	}
	if stored != nil {
		return &console.BrokenError{Cause: errors.Join(stored, shown), Seed: fmt.Sprintf("seed %d", o.Seed), Replay: t.replay}
	}
	if err := errors.Join(shown, k.List(s.Console)); err != nil {
		return err
	}
	if len(o.Mismatches()) > 0 {
		return console.ErrUnexpected
	}
	return nil
}

// store writes the files that the flags ask for.
func (f runFlags) store(s *shell, o *outcome.Outcome, t *task) error {
	if f.out != "" {
		opt := reports.Options{Repeat: t.opts.Repeat, Replay: t.replay}
		if o.Live == nil {
			opt.Replay = fmt.Sprintf("%s replay %s", s.Command(), console.Quote(runfiles.Path(f.out)))
		}
		if err := runfiles.Save(f.out, o, opt, runfiles.PageOptions(s.Console, o, t.lock, t.opts.Repeat),
			runfiles.MarkdownOptions(s.Console, o, t.opts.Repeat)); err != nil {
			return err
		}
	}
	return runfiles.SaveJUnit(s.Console, f.junit, o)
}

func (f runFlags) show(s *shell, o *outcome.Outcome, opt reports.Options) error {
	if f.json {
		for _, m := range o.Mismatches() {
			s.Note(fmt.Sprintf("seed %d: %s\nreplay: %s", o.Seed, m, opt.Replay))
		}
		return s.PrintJSON(outcome.NewRunFile(o))
	}
	if f.markdown {
		return s.Print(runfiles.WriteMarkdown(s.Console, s.Out, o, opt.Repeat))
	}
	opt.Colour = s.Colour(console.IsTerminal)
	if f.timeline {
		return s.Print(terminal.Timeline(s.Out, o, opt))
	}
	return s.Print(terminal.Run(s.Out, o, opt))
}
