package fences_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
)

// misused is a store over a right one, with one mistake.
type misused struct {
	fences.Store
	read  func() (string, error)
	write func(ctx context.Context, do func() error) error
}

func (m misused) Read(ctx context.Context, key string, op fence.Op) (string, error) {
	if m.read != nil {
		return m.read()
	}
	return m.Store.Read(ctx, key, op)
}

func (m misused) Write(ctx context.Context, key, value string, op fence.Op) error {
	if m.write != nil {
		return m.write(ctx, func() error { return m.Store.Write(ctx, key, value, op) })
	}
	return m.Store.Write(ctx, key, value, op)
}

// recorder keeps how a test failed.
type recorder struct {
	*testing.T
	text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	panic(errEnded)
}

var errEnded = errors.New("the test has ended")

// failure is how CheckFence fails a test.
func failure(t *testing.T, f fences.Fence) string {
	t.Helper()
	r := &recorder{T: t}
	func() {
		defer func() {
			if e := recover(); e != nil && e != any(errEnded) {
				panic(e)
			}
		}()
		scenarios.CheckFence(r, f, scenarios.Options{Seed: 1, Runs: 20, Dir: t.TempDir()})
	}()
	return r.text
}

func TestMisuse(t *testing.T) {
	wrong := func(m misused) fences.Fence {
		f := fences.Guard(fence.Check)
		f.Name = "my-fence"
		open := f.Open
		f.Open = func(e subject.Env) (fences.Store, error) {
			s, err := open(e)
			m := m
			m.Store = s
			return m, err
		}
		return f
	}
	none := fences.Guard(fence.Check)
	none.Open = func(subject.Env) (fences.Store, error) { return nil, nil }
	failing := fences.Guard(fence.Check)
	failing.Open = func(subject.Env) (fences.Store, error) { return nil, errors.New("no such table") }
	for _, tc := range []struct {
		name, want string
		fence      fences.Fence
	}{
		{"no name", "the fence has no Name: reports need one", fences.Fence{Open: none.Open}},
		{"no Open", "fence x has no Open: it opens the store for one client", fences.Fence{Name: "x"}},
		{"no store", "the Open of fence redis-check returned neither a store nor an error", none},
		{"a store that does not open", "no such table", failing},
		{"blocks", "had not answered after 16m34s, although the network is whole: let its Read and Write return when their " +
			"context ends", wrong(misused{write: func(context.Context, func() error) error { select {} }})},
		{"panics", "The fence's: its code panicked.",
			wrong(misused{write: func(context.Context, func() error) error { panic("oh") }})},
		{"both", `returned from Read both the value "7" and an error, oh: return one of them`,
			wrong(misused{read: func() (string, error) { return "7", errors.New("oh") }})},
		{"ignores its context", "returned from Write 5m0s after its context had ended: let it end with its context",
			wrong(misused{write: func(ctx context.Context, do func() error) error {
				if time.Sleep(time.Second); ctx.Err() != nil {
					time.Sleep(5 * time.Minute)
				}
				return do()
			}})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := failure(t, tc.fence); !strings.Contains(got, tc.want) {
				t.Errorf("the failure has not %q:\n%s", tc.want, got)
			}
		})
	}
}
