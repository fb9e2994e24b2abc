package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
	"locksim/sim"
)

// A run that ends its process is played in processes of their own, one after another, each of which is this test again.
// They make the schedule minimal, as [search.Found.Examine] does: a process plays smaller schedules until one of them
// ends it, and the next process knows the answers so far. So there are about as many processes as schedules that end
// one.
//
// aloneVariable is the environment variable that tells such a process its folder.
const aloneVariable = "LOCKSIM_ALONE"

// The files of the folder.
const (
	jobFile    = "job.json"    // a job
	answerFile = "answer.json" // an answer
	courseFile = "course.json" // how far the run that is played has come, a [play.Course]
	crashFile  = "crash"       // what the runtime writes at the end of the process
	outputFile = "output"      // all else that the process writes
)

// job is what such a process does.
type job struct {
	Test string
	Lock string
	Dir  string // of stored failures
	Run  noted
	// At is the number of the run that is played, where the note stands for several. Cause is how it ends the process; nil
	// if that is not known yet.
	At    int
	Cause *ending
	// Verdict describes the end in case there is no other answer.
	Verdict string
	// Known are the answers about smaller schedules so far, in the order of [shrink.Minimize]: nil for one that does not
	// end the process. Pending is the answer about the next one, if it has ended the last process.
	Known   []*outcome.Death
	Pending *outcome.Death
	// Enough says that no more schedules are tried.
	Enough bool
}

// answer is the result of a job: the description of the failure, "" if there is none.
type answer struct{ Failure string }

// ending is how a process has ended. Without a Death there is no verdict, and Why says so.
type ending struct {
	Death *outcome.Death
	Why   string
	Stack string
}

func (e *ending) Error() string {
	return strings.TrimSpace(e.Why + "\n" + e.Stack)
}

// maxProcesses is how many processes are started at most.
const maxProcesses = 100

// alone plays a run in processes of its own. failure describes the failure if it ends them, and is "" otherwise. The
// error says why it is not known whether it does.
func (c *checkup) alone(run noted) (failure string, err error) {
	dir, err := os.MkdirTemp("", "locksim-alone-")
	if err != nil {
		return "", fmt.Errorf("play it in a process of its own: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	began := time.Now() //nolint:forbidigo // to say how long it took
	j := &job{Test: c.name, Lock: c.lock.Name, Dir: c.dir, Run: run}
	for n := 1; n <= maxProcesses; n++ {
		j.Enough = n == maxProcesses
		var done bool
		if failure, done, err = c.process(dir, j); done || err != nil {
			if n > 2 {
				fmt.Fprintf(os.Stderr, "%s: %d processes were made to make that schedule minimal, in %v\n", c.name, n, time.Since(began).Round(time.Millisecond)) //nolint:forbidigo // see above
			}
			break
		}
	}
	if failure == "" && j.Verdict != "" {
		return j.Verdict, nil
	}
	return failure, err
}

// process makes one process. If that one has ended before its job was done, the job knows more.
func (c *checkup) process(dir string, j *job) (failure string, done bool, err error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(writeJSON(in(jobFile), j), removed(in(courseFile)), removed(in(crashFile))); err != nil {
		return "", false, err
	}
	ended := c.start(dir)
	output, _ := os.ReadFile(in(outputFile)) // it is only shown
	last := string(output[max(len(output)-2000, 0):])
	var a answer
	if err := readJSON(in(answerFile), &a); !errors.Is(err, fs.ErrNotExist) {
		return a.Failure, true, err
	}
	if err := readJSON(in(jobFile), j); err != nil {
		return "", false, err
	}
	var course play.Course
	if err := readJSON(in(courseFile), &course); err != nil {
		return "", false, fmt.Errorf("the process of its own did not play it (%s):\n%s", fmt.Sprint(ended), last)
	}
	crash, _ := os.ReadFile(in(crashFile)) // absent for a process that was killed
	how := &ending{Why: fmt.Sprintf("its process ended (%v), and not by a panic: os.Exit and log.Fatal end it so", ended),
		Stack: last}
	if f, ok := sim.ReadFatal(string(crash)); ok {
		how.Stack = f.Stack
		if how.Death, err = play.NewDeath(f, course); err != nil {
			how.Why = fmt.Sprintf("its process ended: %s: %v", f.Text, err)
		}
	}
	switch {
	case j.Cause == nil:
		j.Cause = how
	case how.Death == nil:
		j.Known = append(j.Known, nil)
	default:
		j.Pending = how.Death
	}
	return "", false, nil
}

// start makes the process, which is this test alone, with the flags of this process, and waits for it.
func (c *checkup) start(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if !c.clock.end.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, c.clock.end) //nolint:forbidigo // the process plays in real time
	}
	defer cancel()
	args := []string{"-test.run=" + c.pattern(), "-test.count=1"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(strings.TrimLeft(arg, "-"), "test.") {
			args = append(args, arg)
		}
	}
	out, err := os.Create(filepath.Join(dir, outputFile))
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // it is only shown
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), aloneVariable+"="+dir, "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+","+sim.ShowLabels,
		","))
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// playAlone plays the job of this process. It reports whether the process has one, which may be for another test or
// lock.
func (c *checkup) playAlone() bool {
	c.t.Helper()
	dir := os.Getenv(aloneVariable)
	if dir == "" {
		return false
	}
	p := &loner{checkup: c, dir: dir}
	if err := readJSON(filepath.Join(dir, jobFile), &p.job); err != nil {
		c.t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(dir, answerFile))
	if p.job.Test != c.name || p.job.Lock != c.lock.Name || err == nil {
		return true
	}
	if err := p.play(); err != nil {
		c.t.Fatal(err)
	}
	return true
}

// loner is a process that plays runs which may end it.
type loner struct {
	*checkup
	job job
	dir string
}

func (p *loner) play() error {
	p.checkup.dir = p.job.Dir
	crash, err := os.Create(filepath.Join(p.dir, crashFile))
	if err != nil {
		return err
	}
	if err := errors.Join(debug.SetCrashOutput(crash, debug.CrashOptions{}), crash.Close()); err != nil {
		return err
	}
	var s stored
	if p.job.Run.What == storedBefore {
		f, err := readStored(p.job.Run.File)
		if err != nil {
			return err
		}
		s = stored{p.job.Run.File, f, filepath.Dir(p.job.Run.File) != filepath.Clean(p.job.Dir)}
	}
	l, cases, err := p.cases(s)
	if err != nil {
		return err
	}
	var a answer
	at := 0
	for of := range cases {
		if at >= p.job.At && p.job.Cause == nil {
			p.job.At = at
			p.attempt(l, of)
		}
		if at == p.job.At && p.job.Cause != nil {
			a.Failure = p.tell(l, of, s)
			break
		}
		at++
	}
	return writeJSON(filepath.Join(p.dir, answerFile), a)
}

// cases are the runs for which a note stands, and the lock as it is judged in them.
func (p *loner) cases(s stored) (Lock, iter.Seq[search.Case], error) {
	run := p.job.Run
	switch run.What {
	case learning:
		return search.InCalm(p.lock), search.FirstCases(p.lock, p.space), nil
	case storedBefore:
		sc, err := file.Parse(s.file.File, []byte(s.file.Source), subject.ServerNames(p.lock)...)
		return s.judged(p.lock), slices.Values([]search.Case{{Scenario: sc, Seed: s.file.Seed}}), err
	}
	p.discover()
	if run.What == calm {
		return search.InCalm(p.lock), func(yield func(search.Case) bool) {
			for of := range search.CalmCases(p.lock, p.space) {
				if of.Seed == run.Seed {
					yield(of)
				}
			}
		}, nil
	}
	return p.lock, search.Drawn(p.lock, p.space, outcome.Seeds{First: run.Seed, Last: run.Seed}), nil
}

// judged is the lock as it was judged in a stored run in which the process ends, which has one mode.
func (s stored) judged(l Lock) Lock {
	if _, ok := s.file.Modes[l.JudgedMode()]; !ok && s.file.Death != nil {
		return search.InCalm(l)
	}
	return l
}

// attempt plays a run, which may end the process.
func (p *loner) attempt(l Lock, of search.Case) {
	if err := writeJSON(filepath.Join(p.dir, jobFile), p.job); err != nil {
		p.t.Fatal(err)
	}
	course, err := os.Create(filepath.Join(p.dir, courseFile))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = course.Close() }() // see below
	note := func(c play.Course) {
		text, _ := json.Marshal(c)                      // it cannot fail
		_, _ = course.WriteAt(append(text, "  "...), 0) // over the end of the last one; if it fails, there is no verdict
	}
	note(play.Course{})
	// All that counts is whether the process ends.
	_, _ = play.Run(of.Scenario, l, play.RunOptions{Seed: of.Played(), Modes: []fence.Mode{l.JudgedMode()}, Alone: true,
		Note: note})
}

// tell describes the failure of a run that ends the process.
func (p *loner) tell(l Lock, of search.Case, s stored) string {
	j := &p.job
	p.stack = j.Cause.Stack
	if j.Cause.Death == nil {
		return p.noRun(of, j.Cause)
	}
	j.Verdict = p.noRun(of, &ending{Why: "its process ended: " + j.Cause.Death.Panic, Stack: p.stack})
	if err := writeJSON(filepath.Join(p.dir, jobFile), j); err != nil {
		p.t.Fatal(err)
	}
	f, err := search.Died(l, of, j.Cause.Death)
	if err == nil && s.file == nil {
		err = f.ExamineDeath(p.dies(l, of, f))
	}
	switch {
	case err != nil:
		return p.noRun(of, &ending{Why: fmt.Sprintf("its process ended: %s: %v", j.Cause.Death.Panic, err), Stack: p.stack})
	case s.file != nil:
		return p.stillFails(s, &f.Failure)
	}
	return p.report(&f.Failure)
}

// dies is the function for [search.Found.ExamineDeath], by what is known of smaller schedules.
func (p *loner) dies(l Lock, of search.Case, f *search.Found) func(sc *Scenario) *outcome.Death {
	n := 0
	return func(sc *Scenario) *outcome.Death {
		n++
		j := &p.job
		switch {
		case n <= len(j.Known):
			return j.Known[n-1]
		case j.Enough:
			return nil
		case j.Pending == nil:
			p.attempt(l, search.Case{Scenario: sc, Seed: of.Played()})
		case !f.Strikes(sc, j.Pending):
			j.Pending = nil
		}
		j.Known, j.Pending = append(j.Known, j.Pending), nil
		return j.Known[n-1]
	}
}

// diesAgain plays a stored run in which the process ends in a process of its own, and reports whether it ends that one
// too.
func (c *checkup) diesAgain(s stored) bool {
	c.t.Helper()
	failure, err := c.alone(noted{What: storedBefore, Seed: s.file.Seed, File: s.path})
	if err != nil {
		c.t.Logf("%s: %v", s.path, err)
	}
	if failure == "" {
		return false
	}
	c.stale = true
	c.t.Error(failure)
	return true
}

func writeJSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return replaceFile(name, text)
}

func readJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// removed removes a file that may be missing.
func removed(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
