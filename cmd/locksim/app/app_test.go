package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// call runs the command as a user's own program would.
func call(t *testing.T, extra []subject.Lock, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c := &console.Console{Program: "mysim", In: strings.NewReader(""), Out: &out, Err: &err,
		Getenv: func(string) string { return "" }}
	s := &shell{Console: c, args: args, Roster: roster.Roster{Extra: extra}}
	code = s.run()
	return code, out.String(), err.String()
}

// mylock is a lock that is not built in: the single lock under another name.
func mylock() subject.Lock {
	return subject.Lock{Name: "mylock", New: func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{Clock: e.Clock(), Entropy: e.Entropy("lock"),
			Jitter: e.Source("lock")})
	}}
}

// A lock that is passed to Main is listed, run and replayed under its name, and
// the replay command names the user's program.
func TestExtraLock(t *testing.T) {
	extra := []subject.Lock{mylock()}
	if code, out, _ := call(t, extra, "list"); code != console.ExitExpected ||
		!regexp.MustCompile(`(?m)^  mylock +1 redis +no tokens$`).MatchString(out) {
		t.Errorf("list: exit code %d\n%s", code, out)
	}
	dir := t.TempDir()
	code, out, errs := call(t, extra, "run", "gc-pause", "--lock", "mylock", "--out", dir)
	if code != console.ExitExpected || !strings.HasPrefix(out, "seed 1  scenario gc-pause  lock mylock ") ||
		!strings.HasSuffix(out, "replay: mysim replay "+filepath.Join(dir, "run.json")+"\n") {
		t.Errorf("run: exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs = call(t, extra, "replay", filepath.Join(dir, "run.json")); code != console.ExitExpected {
		t.Errorf("replay: exit code %d\n%s%s", code, out, errs)
	}
	if _, out, _ = call(t, extra, "__complete", "run", "calm", "--lock", ""); !strings.Contains(out, "mylock\n") {
		t.Errorf("completion does not offer mylock:\n%s", out)
	}
}

// The replay of a run of a lock that the program does not have says how to build one
// that has it, also if the lock brings the servers of the scenario along.
func TestReplayOfAnotherLock(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "run.json")
	if code, _, errs := call(t, []subject.Lock{mylock()}, "run", "gc-pause", "--lock", "mylock", "--out",
		dir); code != console.ExitExpected {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	stored, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	onOthers := filepath.Join(dir, "others.json")
	if err := os.WriteFile(onOthers, bytes.Replace(stored, []byte("clients: 2"), []byte("clients: 2, register: 3"), 1),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{name, onOthers} {
		for _, args := range [][]string{{"replay", name}, {"replay", name, "--mode", "none", "--until-step", "3"}} {
			code, out, errs := call(t, nil, args...)
			if code != console.ExitUsage || out != "" ||
				!strings.Contains(errs, `there is no lock "mylock": there are single, `) ||
				!strings.HasSuffix(errs, "go run ./locksimtest/sim replay "+name+"\n") {
				t.Errorf("%v: exit code %d\n%s", args, code, errs)
			}
			_, program, _ := strings.Cut(errs, "By hand, that is this main.go:\n")
			program, _, _ = strings.Cut(program, "Then call it")
			f, err := parser.ParseFile(token.NewFileSet(), "main.go", program, parser.SkipObjectResolution)
			if err != nil || f.Name.Name != "main" || !strings.Contains(program, "app.Main(") {
				t.Errorf("not a program: %v\n%s", err, program)
			}
		}
	}
}

// A lock on servers of another kind is listed with their number.
func TestExtraLockOnOtherServers(t *testing.T) {
	l := mylock()
	l.Servers = []subject.Servers{{Kind: subject.ServerKind{Facts: server.Facts{Name: "register", Prefix: "k"}}, Count: 3}}
	code, out, _ := call(t, []subject.Lock{l}, "list")
	if code != console.ExitExpected || !regexp.MustCompile(`(?m)^  mylock +3 [a-z]+ +no tokens$`).MatchString(out) {
		t.Errorf("list: exit code %d\n%s", code, out)
	}
}

// A lock that no flag can name, or that has the name of a built-in lock, is refused
// before anything runs.
func TestExtraLockNames(t *testing.T) {
	for want, l := range map[string]subject.Lock{
		"has no Name":             {},
		"two locks called fenced": {Name: "fenced"},
	} {
		if code, _, errs := call(t, []subject.Lock{l}, "list"); code != console.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("exit code %d, want %d and %q:\n%s", code, console.ExitUsage, want, errs)
		}
	}
}

// unseeded waits before each Acquire for a time that the seed does not decide.
type unseeded struct {
	lock.Locker
	clock lock.Clock
}

func (u unseeded) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if err := u.clock.Sleep(ctx, time.Duration(rand.Int64N(int64(time.Second)))); err != nil {
		return nil, err
	}
	return u.Locker.Acquire(ctx, resource)
}

// A lock that is not deterministic gets no verdict: exit code 3, the seed first, the
// first event that differs, the replay command last, nothing on standard output.
func TestNondeterminism(t *testing.T) {
	l := mylock()
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		made, err := inner(e)
		return unseeded{made, e.Clock()}, err
	}
	for _, args := range [][]string{{"run", "calm", "--lock", "mylock"}, {"run", "calm", "--lock", "mylock", "--json"}} {
		code, out, errs := call(t, []subject.Lock{l}, args...)
		if code != console.ExitBroken || out != "" {
			t.Errorf("%v: exit code %d, standard output %q", args, code, out)
		}
		if !strings.HasPrefix(errs, "seed 1\n") || !strings.Contains(errs, "first divergent event") ||
			!strings.HasSuffix(errs, "replay: mysim run calm --lock mylock --seed 1 --fencing none,claim,cas\n") {
			t.Errorf("%v: %s", args, errs)
		}
	}
}

// A lock that cannot be made, with the lock options of the scenario or at all, gets no
// verdict either.
func TestBrokenLock(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(subject.Env) (lock.Locker, error)
		code int
		says string
	}{
		{"error", func(subject.Env) (lock.Locker, error) { return nil, errors.New("no quorum possible") }, console.ExitUsage,
			"cannot be made: no quorum possible"},
		{"none", nil, console.ExitBroken, "has no New"},
	} {
		code, out, errs := call(t, []subject.Lock{{Name: "mylock", New: tt.make}}, "run", "calm", "--lock", "mylock")
		if code != tt.code || out != "" || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: exit code %d\n%s%s", tt.name, code, out, errs)
		}
	}
}

// A panic in the command itself is reported as a bug.
func TestPanicIsABug(t *testing.T) {
	var errs bytes.Buffer
	c := &console.Console{Program: "mysim", Out: io.Discard, Err: &errs,
		Getenv: func(string) string { panic("out of cheese") }}
	s := &shell{Console: c, args: []string{"run", "calm"}}
	if code := s.run(); code != console.ExitBroken {
		t.Errorf("exit code %d, want %d", code, console.ExitBroken)
	}
	for _, want := range []string{"this is a bug in locksim", "out of cheese", "console.(*Console).Colour"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("the message lacks %q:\n%s", want, errs.String())
		}
	}
}

// The list describes each fencing mode and each fault that a scenario file can
// name. A wrong key in a fault makes the parser list those that it knows.
func TestListIsComplete(t *testing.T) {
	for _, m := range fence.Modes() {
		if rules[m] == "" {
			t.Errorf("list has no text for fencing mode %s", m)
		}
	}
	_, err := file.Parse("x.yaml", []byte("name: x\nfaults:\n  - {at: 1s, earthquake: 3}\n"))
	if err == nil {
		t.Fatal("an earthquake was accepted")
	}
	known := "when, at, after, every, times, probability"
	for _, k := range faults.Kinds() {
		known += ", " + k.Name
	}
	if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasSuffix(first, known) {
		t.Errorf("list has %s; the error of the parser is: %s", known, first)
	}
}

// When a file cannot be moved to its name, the temporary files are removed.
func TestSaveLeavesNoTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "run.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "run.json", "in-the-way"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, nil, "run", "calm", "--once", "--out", dir)
	if code != console.ExitBroken || !strings.Contains(errs, "run.json") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if !strings.HasPrefix(out, "seed 1  scenario calm") || !strings.Contains(out, "replay: mysim run calm") {
		t.Errorf("the report is lost:\n%s", out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was not removed", e.Name())
		}
	}
}

// The JSON of the world at a step has empty lists, never null.
func TestStateFileHasNoNull(t *testing.T) {
	b, err := json.Marshal(newState(reports.Moment{}, &outcome.State{Nodes: []outcome.NodeState{{Name: "r0"}}}))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("null")) {
		t.Errorf("%s", b)
	}
}

// A program with another name has that name in its help, its errors and its version.
func TestOwnWords(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--help"}, "  mysim run gc-pause --lock single --seed 7\n"},
		{[]string{"run", "--help"}, "  mysim run SCENARIO|FILE.yaml [flags]\n"},
		{[]string{"--help"}, "Use \"mysim [command] --help\""},
		{[]string{"replay", "--help"}, `Replay repeats a run that "mysim run --out DIR" has stored`},
		{[]string{"matrix", "--help"}, `and "mysim merge" combines`},
		{[]string{"overlay", "--help"}, "go test $(mysim overlay) ./..."},
		{[]string{"rnu"}, "mysim: there is no command"},
		{[]string{"run"}, "see mysim run --help"},
		{[]string{"run", "nothing"}, "mysim list shows all"},
		{[]string{"--version"}, "mysim "},
	} {
		_, out, errs := call(t, nil, tt.args...)
		if !strings.Contains(out+errs, tt.want) || (&console.Console{Program: "mysim"}).InOwnWords(out+errs) != out+errs {
			t.Errorf("%v lacks %q, or names another program:\n%s%s", tt.args, tt.want, out, errs)
		}
	}
}

// Every command that a text may name is named as this program is called.
func TestAllCommandsAreInOwnWords(t *testing.T) {
	s := &shell{Console: &console.Console{Program: "mysim"}}
	for _, cmd := range s.root().Commands() {
		if cmd.Hidden {
			continue
		}
		if got, want := s.InOwnWords("locksim "+cmd.Name()), "mysim "+cmd.Name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
