package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// project is a module that uses locksim from a clone.
type project struct {
	t   *testing.T
	dir string
}

// theirTest is the only Go file of such a module.
const theirTest = `package theirs

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

func sound() scenarios.Lock {
	promise, _ := lock.PromiseOf("single")
	promise.Duties = nil // the leases of some of the fakes have no context that ends
	return scenarios.Lock{Name: "theirs", Traits: scenarios.Traits{Promise: promise}, New: func(e scenarios.Env) (lock.Locker, error) {
		return lock.NewSingle(redisclient.New(e, "r0"), lock.Options{Clock: e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
	}}
}

func careless() scenarios.Lock {
	l := sound()
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		inner, err := sound().New(e)
		return locker{inner, redisclient.New(e, "r0")}, err
	}
	return l
}

type locker struct {
	lock.Locker
	node *redis.Client
}

type lease struct {
	lock.Lease
	node *redis.Client
	key  string
}

func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	inner, err := l.Locker.Acquire(ctx, resource)
	return lease{inner, l.node, "lock:{" + resource + "}"}, err
}

func (l lease) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

func TestSound(t *testing.T)    { scenarios.Check(t, sound(), scenarios.Options{}) }
func TestCareless(t *testing.T) { scenarios.Check(t, careless(), scenarios.Options{}) }
func FuzzSound(f *testing.F)    { scenarios.Fuzz(f, sound(), scenarios.Options{}) }
func FuzzCareless(f *testing.F) { scenarios.Fuzz(f, careless(), scenarios.Options{}) }

func TestOurs(t *testing.T) {
	l, err := scenarios.Kind("broken/del-without-owner")
	if err != nil {
		t.Fatal(err)
	}
	scenarios.Check(t, l, scenarios.Options{Seed: 1})
}
`

// newProject makes a module with the requirements of locksim, and locksim itself.
func newProject(t *testing.T) project {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	p := project{t, t.TempDir()}
	p.write("go.mod", strings.Replace(string(mod), "module locksim", "module theirs", 1)+
		fmt.Sprintf("\nrequire locksim v0.0.0\n\nreplace locksim => %s\n", root))
	p.write("go.sum", string(sum))
	p.write("theirs_test.go", theirTest)
	return p
}

func (p project) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// forget removes the failures that earlier runs have stored.
func (p project) forget() {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, "testdata")); err != nil {
		p.t.Fatal(err)
	}
}

// run runs the go command in the project, and returns its output and whether it
// succeeded.
func (p project) run(args ...string) (output string, ok bool) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// demand runs the go command, and checks whether it succeeds and what it prints.
func (p project) demand(ok bool, args []string, patterns ...string) string {
	p.t.Helper()
	output, got := p.run(args...)
	if got != ok {
		p.t.Fatalf("go %s: ok is %v\n%s", strings.Join(args, " "), got, output)
	}
	wants(p.t, output, patterns...)
	return output
}

func goTest(args ...string) []string { return append([]string{"test", "-vet=off"}, args...) }

// What a user of locksim sees, with the real go command.
func TestCheckInAProject(t *testing.T) {
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("builds and runs the tests of another module: make soak does it, LOCKSIM_SOAK is not 1")
	}
	p := newProject(t)
	for _, step := range []struct {
		name string
		test func(p project)
	}{{"flags", project.obeysTheFlags}, {"repeats", project.repeatsAFailure}, {"commands", project.namesCommandsThatWork},
		{"fuzz", project.fuzzes}, {"race", project.runsUnderRace}} {
		t.Run(step.name, func(t *testing.T) {
			p.t = t
			p.forget()
			step.test(p)
		})
	}
}

// obeysTheFlags: -short and -rapid.checks set the number of runs, -count repeats them.
func (p project) obeysTheFlags() {
	p.demand(true, goTest("-v", "-run", "^TestSound$", "-short"),
		`theirs: no violation in 200 runs. 1?\d\d of them really tested the lock`)
	again := p.demand(true, goTest("-v", "-run", "^TestSound$", "-rapid.checks=3", "-count=2"), `theirs: 60 runs`)
	if n := strings.Count(again, "theirs: 60 runs"); n != 2 {
		p.t.Errorf("-count=2 ran %d times", n)
	}
}

// repeatsAFailure: -rapid.seed and -rapid.failfile find the same failure again.
func (p project) repeatsAFailure() {
	first := p.demand(false, goTest("-run", "^TestCareless$", "-rapid.seed=7"), `seed \d+: theirs fails`,
		`-rapid.failfile=`)
	failfile := regexp.MustCompile(`-rapid\.failfile="([^"]+)"`).FindStringSubmatch(first)
	if failfile == nil {
		p.t.Fatal("no -rapid.failfile")
	}
	kept, err := os.ReadFile(filepath.Join(p.dir, failfile[1]))
	if err != nil {
		p.t.Fatal(err)
	}
	p.forget()
	second := p.demand(false, goTest("-run", "^TestCareless$", "-rapid.seed=7", "-rapid.nofailfile"), `seed \d+: theirs`)
	if _, err := os.Stat(filepath.Join(p.dir, "testdata", "rapid")); !os.IsNotExist(err) {
		p.t.Errorf("-rapid.nofailfile: %v", err)
	}
	p.forget()
	p.write("kept.fail", string(kept))
	third := p.demand(false, goTest("-run", "^TestCareless$", "-rapid.failfile=kept.fail", "-rapid.nofailfile"))
	headline := regexp.MustCompile(`seed \d+: theirs.*`)
	if a, b, c := headline.FindString(first), headline.FindString(second), headline.FindString(third); a != b || a != c {
		p.t.Errorf("not the same failure:\n%s\n%s\n%s", a, b, c)
	}
}

// namesCommandsThatWork: the commands at the end of a failure work.
func (p project) namesCommandsThatWork() {
	output := p.demand(false, goTest("-run", "^TestOurs$"), `replay: go test -count=1 -run '\^TestOurs\$'\n`)
	p.demand(false, goTest("-run", "^TestOurs$"), `stored failure testdata/locksim/broken-del-without-owner`)
	command := regexp.MustCompile(`step by step: go (run .*)`).FindStringSubmatch(output)
	if command == nil {
		p.t.Fatal(output)
	}
	p.demand(true, strings.Fields(command[1]), `equal$`)
}

// fuzzes: the fuzzer passes a sound lock, and finds the failure of a careless one.
func (p project) fuzzes() {
	p.demand(true, goTest("-run", "^$", "-fuzz", "^FuzzSound$", "-fuzztime", "50x"), `^PASS$`)
	p.demand(false, goTest("-run", "^$", "-fuzz", "^FuzzCareless$", "-fuzztime", "20000x"), `seed \d+: theirs fails`,
		`replay: go test -count=1 -run '\^FuzzCareless\$'`)
	p.demand(false, goTest("-run", "^FuzzCareless$"), `stored failure testdata/locksim/theirs-`)
}

// runsUnderRace: under the race detector goroutines are scheduled differently in
// each run, and a check passes and fails as without it.
func (p project) runsUnderRace() {
	if output, ok := p.run(goTest("-race", "-run", "^$")...); !ok {
		p.t.Skipf("no race detector here:\n%s", output)
	}
	p.demand(true, goTest("-race", "-v", "-run", "^TestSound$", "-rapid.checks=5"), `theirs: 100 runs`)
	p.demand(false, goTest("-race", "-run", "^TestCareless$", "-rapid.seed=7"), `seed \d+: theirs fails`)
}
