package linked_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"locksim/internal/soak"
)

// These tests make modules of users, and run their tests as users do.

const redis = "github.com/redis/go-redis/v9"

// A module that ships go-redis v9.7.0, with the tests of its lock in a module of their own beside it: the pass line,
// the message of a failure, its page and the stored run say that another version was tested, and the command that they
// give makes them test the one that ships.
func TestLockThatShipsAnOlderClient(t *testing.T) {
	soak.Only(t, "it builds a module twice")
	outer := t.TempDir()
	nested := filepath.Join(outer, "locksimtest")
	write(t, outer, "go.mod", "module example.org/outer\n\ngo 1.26.0\n\nrequire "+redis+" v9.7.0\n")
	write(t, outer, "mutex.go", mutex)
	write(t, nested, "go.mod", goMod(t, "example.org/outer/locksimtest", "require example.org/outer v0.0.0\n\nreplace "+
		"example.org/outer => ../"))
	write(t, nested, "lock_test.go", mutexTest)
	download(t, outer, redis+"@v9.7.0")

	const asked = "linked: " + redis + " v9.23.0, which locksim requires; example.org/outer asks for v9.7.0"
	pin := "go mod edit -replace=" + redis + "=" + redis + "@v9.7.0"
	right, wrong, _ := strings.Cut(goTest(t, nested, "-run=Right|Wrong"), "=== RUN   TestWrong")
	for name, text := range map[string]string{
		"pass line":      right,
		"failing test":   wrong,
		"page of it":     stored(t, nested, "*.html"),
		"stored failure": stored(t, nested, "*.json"),
	} {
		want := []string{asked, pin}
		if name == "stored failure" {
			want = []string{`"asked": {` + "\n      " + `"` + redis + `": "v9.7.0"`, `"` + redis + `": "v9.23.0"`}
		}
		for _, want := range want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: there is no %s in\n%s", name, want, text)
			}
		}
	}
	run(t, nested, strings.Fields(pin)...)
	text := goTest(t, nested, "-run=Right")
	if !strings.Contains(text, "no violation") || strings.Contains(text, "asks for") {
		t.Errorf("with the version pinned: %s", text)
	}
}

// A module that requires redsync v4.0.3 tests that version.
func TestLibraryThatIsPinned(t *testing.T) {
	const redsync = "github.com/go-redsync/redsync/v4"
	dir := t.TempDir()
	write(t, dir, "go.mod", goMod(t, "example.org/pinned", "require "+redsync+" v4.0.3\n\nrequire "+
		"github.com/hashicorp/go-multierror v1.1.0 // indirect"))
	write(t, dir, "lock_test.go", redsyncTest)
	download(t, dir, redsync+"@v4.0.3")
	text := goTest(t, dir, "-run=Redsync")
	for _, want := range []string{"no violation", redsync + "@v4.0.3/mutex.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "which locksim requires; ") {
		t.Errorf("redsync v4.0.3 asks for no client that locksim requires:\n%s", text)
	}
}

// goMod is the go.mod of a module that requires this checkout of locksim and what that requires, as go mod tidy leaves
// it.
func goMod(t *testing.T, path, more string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	own, err := modfile.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26.0\n\ngodebug randseednop=0\n\nrequire locksim v0.0.0\n\nreplace locksim => "+
		"%q\n\n%s\n\nrequire (\n", path, root, more)
	for _, r := range own.Require {
		fmt.Fprintf(&b, "\t%s %s // indirect\n", r.Mod.Path, r.Mod.Version)
	}
	return b.String() + ")\n"
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// download skips the test where a version can neither be found on this machine nor be downloaded, and in short tests.
func download(t *testing.T, dir, version string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles a program with another version of a library")
	}
	if out, err := command(dir, "go", "mod", "download", version).CombinedOutput(); err != nil {
		t.Skipf("go mod download %s: %v\n%s", version, err, out)
	}
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	// Sums of modules that are not in the go.sum of locksim are not looked up.
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOSUMDB=off", "GOWORK=off")
	return cmd
}

func run(t *testing.T, dir string, words ...string) {
	t.Helper()
	if out, err := command(dir, words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

// goTest is what a test prints, whether it passes or not.
func goTest(t *testing.T, dir, flag string) string {
	t.Helper()
	out, err := command(dir, "go", "test", "-v", "-count=1", "-vet=off", "-cpu=1", flag, ".").CombinedOutput()
	return fmt.Sprintf("%s%v", out, err)
}

// stored is the only file of a stored failure whose name matches.
func stored(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "testdata", "locksim", pattern))
	if err != nil || len(names) != 1 {
		return fmt.Sprintf("files %s: %v %v", pattern, names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const mutex = `package outer

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const TTL = 2 * time.Second

func Lock(ctx context.Context, c *redis.Client, key, owner string) (until time.Time, err error) {
	for {
		until = time.Now().Add(TTL)
		if ok, err := c.SetNX(ctx, key, owner, TTL).Result(); ok || err != nil {
			return until, err
		}
		select {
		case <-ctx.Done():
			return until, ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
}

var deleteOwn = redis.NewScript("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")

func Unlock(ctx context.Context, c *redis.Client, key, owner string) error {
	return deleteOwn.Run(context.WithoutCancel(ctx), c, []string{key}, owner).Err()
}

func UnlockAny(ctx context.Context, c *redis.Client, key, _ string) error {
	return c.Del(context.WithoutCancel(ctx), key).Err()
}
`

const mutexTest = `package locksimtest

import (
	"context"
	"crypto/rand"
	"io"
	"testing"
	"time"

	"example.org/outer"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios"
)

func check(t *testing.T, name string, unlock func(context.Context, *redis.Client, string, string) error) {
	l := scenarios.Lock{Name: name, Traits: scenarios.Traits{Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}, Data: "claim"}}, New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			owner := rand.Text()
			until, err := outer.Lock(ctx, client, key, owner)
			if err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{
				Unlock: func(ctx context.Context) error { return unlock(ctx, client, key, owner) },
				Until:  func() time.Time { return until },
			}), nil
		}), nil
	}}
	scenarios.Check(t, l, scenarios.Options{Runs: 200, Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
		return html.Run(w, o, reports.Options{Replay: replay})
	}})
}

func TestRight(t *testing.T) { check(t, "right", outer.Unlock) }
func TestWrong(t *testing.T) { check(t, "wrong", outer.UnlockAny) }
`

const redsyncTest = `package pinned

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	pool "github.com/go-redsync/redsync/v4/redis"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

type conn struct {
	client *redis.Client
	asked  *time.Time // of the last SET NX
	ctx    context.Context
}

func (c conn) Get(ctx context.Context) (pool.Conn, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	return used{conn{c.client, c.asked, ctx}}, nil
}

type used struct{ conn }

func (c used) Get(name string) (string, error) { return c.client.Get(c.ctx, name).Result() }
func (c used) Set(name, value string) (bool, error) {
	return true, c.client.Set(c.ctx, name, value, 0).Err()
}
func (c used) SetNX(name, value string, ttl time.Duration) (bool, error) {
	*c.asked = time.Now()
	return c.client.SetNX(c.ctx, name, value, ttl).Result()
}
func (c used) PTTL(name string) (time.Duration, error) { return c.client.PTTL(c.ctx, name).Result() }
func (c used) Close() error                            { return nil }
func (c used) Eval(script *pool.Script, args ...any) (any, error) {
	v, err := c.client.Eval(c.ctx, script.Src, []string{args[0].(string)}, args[1:]...).Result()
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return v, err
}

func TestRedsync(t *testing.T) {
	l := scenarios.Lock{Name: "redsync-4.0.3", Traits: scenarios.Traits{Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause}, Data: "claim", SelfExcludes: true}}, New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			var asked time.Time
			pools := redsync.New(conn{client, &asked, nil})
			m := pools.NewMutex(key, redsync.WithTries(1000), redsync.WithExpiry(2*time.Second), redsync.WithGenValueFunc(func() (string, error) { return e.Name() + time.Now().String(), nil }))
			if err := m.LockContext(ctx); err != nil {
				return nil, scenarios.Unanswered(err)
			}
			return scenarios.NewLease(ctx, e, scenarios.Grant{Until: func() time.Time { return asked.Add(1900 * time.Millisecond) }, Unlock: func(ctx context.Context) error {
				_, err := m.UnlockContext(context.WithoutCancel(ctx))
				return err
			}}), nil
		}), nil
	}}
	at := reflect.ValueOf((*redsync.Mutex).LockContext).Pointer()
	file, _ := runtime.FuncForPC(at).FileLine(at)
	t.Log(file)
	scenarios.Check(t, l, scenarios.Options{Runs: 200})
}
`
