// Package groundtruth has published bugs of other people's locks as data, and plays each in the unmodified library: in
// the version that has it, and in the one that has not. A program of each library has its locks; go run ./cmd builds it
// with a version, plays it, and writes reports/GROUNDTRUTH.md.
package groundtruth

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locksim/cmd/locksim/app"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios"
)

// Answer is what a program says of one Check.
type Answer struct {
	// Found says that Check failed the lock. Runs is how many schedules it drew up to then, 0 for a failure of a run
	// without faults, or all of them.
	Found bool
	Runs  int
	// NoVerdict says that a run had no verdict, which tells nothing of the lock: it is a defect of locksim or of the
	// adapter.
	NoVerdict bool
	// Text is the failure, or the verdict.
	Text string
	// OutOfTime says that the CPU time was over before.
	OutOfTime bool
}

// Play says what a program plays.
type Play struct {
	Bug     string
	Version string // of the bug's module: the program checks that it was built with it
	Seed    uint64 // of the first schedule
	Runs    int    // 0 for the default of Check
	Helped  bool   // with the Help of the bug
	Dir     string // of the stored failure
	Answer  string // the file for the answer
	Seconds uint64 // of CPU time at most; 0 for no limit
}

// Flags are the flags of a program that plays this.
func (p Play) Flags() []string {
	return []string{"-bug=" + p.Bug, "-version=" + p.Version, "-seed=" + strconv.FormatUint(p.Seed, 10), "-runs=" +
		strconv.Itoa(p.Runs),
		"-helped=" + strconv.FormatBool(p.Helped), "-dir=" + p.Dir, "-answer=" + p.Answer, "-seconds=" +
			strconv.FormatUint(p.Seconds, 10)}
}

// Main is the program of a library with a lock for each of its bugs, by id. With the flags of [Play] it judges one as a
// test would; with other arguments it is the command of locksim with these locks. It does not return.
func Main(locks map[string]scenarios.Lock) { MainWith(locks, nil) }

// Judge judges something that is no lock, as [scenarios.Check] judges a lock.
type Judge func(t testing.TB, o scenarios.Options)

// MainWith is [Main] with judges of bugs that are not of locks, by id.
func MainWith(locks map[string]scenarios.Lock, judges map[string]Judge) {
	var p Play
	testing.Init()
	flag.StringVar(&p.Bug, "bug", "", "")
	flag.StringVar(&p.Version, "version", "", "")
	flag.Uint64Var(&p.Seed, "seed", 0, "")
	flag.IntVar(&p.Runs, "runs", 0, "")
	flag.BoolVar(&p.Helped, "helped", false, "")
	flag.StringVar(&p.Dir, "dir", "", "")
	flag.StringVar(&p.Answer, "answer", "", "")
	flag.Uint64Var(&p.Seconds, "seconds", 0, "")
	if len(os.Args) < 2 || os.Args[1][0] != '-' {
		os.Exit(app.Main(judged(locks)...))
	}
	flag.Parse()
	bug, ok := Find(p.Bug)
	l, known := locks[p.Bug]
	if form, ok := locks[Form(p.Bug, p.Version)]; ok {
		l, known = form, true
	}
	judge, apart := judges[p.Bug]
	if !ok || !known && !apart {
		refuse(fmt.Errorf("this program has no lock for a bug %q", p.Bug))
	}
	if bug = bug.At(p.Version); bug.Module != "" {
		if err := built(bug.Module, p.Version); err != nil {
			refuse(err)
		}
	}
	l.Name, l.Promise = bug.ID, bug.Promise
	var options scenarios.Options
	if p.Helped && bug.Helped != nil {
		l.Promise, options = bug.Helped.Promise, bug.Helped.Options
	}
	options.Seed, options.Dir = p.Seed, p.Dir
	options.Page = func(w io.Writer, o *scenarios.Outcome, replay string) error {
		return html.Run(w, o, reports.Options{Replay: replay})
	}
	if p.Runs > 0 {
		options.Runs = p.Runs
	}
	limit(p)
	testing.Main(regexp.MatchString, []testing.InternalTest{{Name: bug.ID, F: func(t *testing.T) {
		if apart {
			judge(&listener{T: t, play: p}, options)
		} else {
			scenarios.Check(&listener{T: t, play: p}, l, options)
		}
	}}}, nil, nil)
}

// Form is the key of a lock that its program has in more than one form, for [Main]: a version of a bug without a
// module.
func Form(bug, version string) string { return bug + "@" + version }

// judged are the locks by the ids and with the promises of their bugs, in the order of the rows.
func judged(locks map[string]scenarios.Lock) []scenarios.Lock {
	var out []scenarios.Lock
	for _, b := range All() {
		l, ok := locks[b.ID]
		if !ok {
			l, ok = locks[Form(b.ID, b.Has)]
		}
		if ok {
			l.Name, l.Promise = b.ID, b.Promise
			out = append(out, l)
		}
	}
	return out
}

// built is an error unless this program has a version of a module.
func built(module, version string) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("this program does not know the versions of its modules: build it with Go modules")
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module })
	if i < 0 {
		return fmt.Errorf("this program has no module %s", module)
	}
	m := info.Deps[i]
	if m.Replace != nil && !strings.HasPrefix(m.Replace.Path, "./") { // else it is a folder with files of that version
		m = m.Replace
	}
	if m.Path != module || m.Version != version {
		return fmt.Errorf("this program was built with %s %s, and not with %s %s", m.Path, m.Version, module, version)
	}
	return nil
}

func refuse(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

// limit ends the program with an answer when its CPU time is over.
func limit(p Play) {
	if p.Seconds == 0 {
		return
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: p.Seconds, Max: p.Seconds + 30}); err != nil {
		refuse(fmt.Errorf("limit the CPU time: %w", err))
	}
	go func() {
		<-over
		p.answer(Answer{OutOfTime: true, Runs: p.played(), Text: fmt.Sprintf("%d seconds of CPU time were over", p.Seconds)})
		os.Exit(1)
	}()
}

// played is how many schedules have been drawn, by the note of the one that is played.
func (p Play) played() int {
	notes, _ := filepath.Glob(filepath.Join(p.Dir, ".running-*"))
	for _, name := range notes {
		var note struct{ Seed uint64 }
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &note) == nil && note.Seed >= p.Seed {
			return int(note.Seed - p.Seed)
		}
	}
	return 0
}

func (p Play) answer(a Answer) {
	if p.Answer == "" {
		return
	}
	text, err := json.Marshal(a)
	if err == nil {
		err = os.WriteFile(p.Answer, text, 0o644)
	}
	if err != nil {
		refuse(err)
	}
}

// listener is a test that answers with what Check says.
type listener struct {
	*testing.T
	play Play
}

var (
	seedOf   = regexp.MustCompile(`(?m)^seed (\d+): `)
	unjudged = regexp.MustCompile(`^seed \d+: a run of .+ has no verdict: |^lock \S+, in a run without faults: `)
	runsOf   = regexp.MustCompile(`no violation in ([\d,]+) runs`)
)

func (l *listener) Fatal(args ...any) {
	l.Helper()
	a := Answer{Text: fmt.Sprint(args...)}
	a.NoVerdict = unjudged.MatchString(a.Text)
	a.Found = !a.NoVerdict
	if m := seedOf.FindStringSubmatch(a.Text); m != nil {
		if seed, err := strconv.ParseUint(m[1], 10, 64); err == nil && seed >= l.play.Seed {
			a.Runs = int(seed-l.play.Seed) + 1
		}
	}
	l.play.answer(a)
	l.T.Fatal(args...)
}

func (l *listener) Fatalf(format string, args ...any) {
	l.Helper()
	l.Fatal(fmt.Sprintf(format, args...))
}

func (l *listener) Log(args ...any) {
	l.Helper()
	a := Answer{Text: fmt.Sprint(args...)}
	if m := runsOf.FindStringSubmatch(a.Text); m != nil {
		a.Runs, _ = strconv.Atoi(regexp.MustCompile(",").ReplaceAllString(m[1], ""))
	}
	l.play.answer(a)
	l.T.Log(args...)
}

// FirstSeeds are the first seeds from which each bug is searched. They are above those of runs without faults.
var FirstSeeds = []uint64{1_000_001, 2_000_001, 3_000_001}
