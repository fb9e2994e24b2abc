package lock_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/broken"
	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/lock/locktest/redisserver"
)

// TestOurScriptsAreTheSameEverywhere runs random operations of several owners, by a seed, on real servers; then the
// same requests in a different order, also with keys of unexpected types. Each replica, run at the same instants, must
// have the same answers, keys and TTLs.
func TestOurScriptsAreTheSameEverywhere(t *testing.T) {
	soak.RealTime(t)
	scripts := ourScripts(t)
	all := crowds(scripts)
	var seen []string
	// The scripts that run depend on the answers of real servers: a rare one may need another recording. Each recording
	// is compared.
	for range 5 {
		recorded := recordAll(t, all)
		for _, c := range all {
			t.Run(c.name, func(t *testing.T) {
				for _, sequence := range recorded[c.name] {
					compare(t, sequence)
					for _, e := range sequence {
						seen = append(seen, e.script)
					}
				}
			})
		}
		if t.Failed() || len(unseen(scripts, seen)) == 0 {
			break
		}
	}
	for _, where := range unseen(scripts, seen) {
		t.Errorf("no crowd has run the script in %s", where)
	}
}

// unseen names the scripts that were not run.
func unseen(scripts map[string]string, seen []string) []string {
	var names []string
	for where, script := range scripts {
		if !slices.ContainsFunc(seen, func(s string) bool { return strings.Contains(s, script) }) {
			names = append(names, where)
		}
	}
	return names
}

// recordAll records all crowds at once, since they mostly wait.
func recordAll(t *testing.T, crowds []crowd) map[string][][]execution {
	t.Helper()
	var addrs []string
	for _, s := range redisserver.StartN(t, 5) {
		addrs = append(addrs, s.Addr())
	}
	var (
		mu  sync.Mutex
		got = map[string][][]execution{}
		all sync.WaitGroup
	)
	for _, c := range crowds {
		all.Go(func() {
			sequences, err := c.record(t, addrs)
			if err != nil {
				t.Errorf("record %s: %v", c.name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[c.name] = sequences
		})
	}
	all.Wait()
	return got
}

// compare runs a sequence again on each replica.
func compare(t *testing.T, sequence []execution) {
	t.Helper()
	for _, r := range replicas {
		got, err := r.run(sequence)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		compared := 0
		for i, e := range sequence {
			if e.luck {
				continue
			}
			compared++
			if d := differ(r.name, e.got, got[i]); d != "" {
				t.Errorf("%s, execution %d of %d at %v: %s\n%v", r.name, i, len(sequence), e.got.at, d, e)
				return // later differences follow from this one
			}
		}
		if compared < len(sequence)/2 {
			t.Errorf("%s: only %d of %d executions did not depend on timing", r.name, compared, len(sequence))
		}
	}
}

// crowd is several owners that use one kind of lock, or a guard.
type crowd struct {
	name  string
	nodes int
	act   func(clients []*redis.Client, rng *rand.Rand) (step func(), err error) // for one owner
}

func crowds(scripts map[string]string) []crowd {
	var all []crowd
	for _, m := range members {
		if m.harness.Renews || strings.HasSuffix(m.name, "-notify") {
			continue // they send the requests of other kinds
		}
		all = append(all, crowd{m.name, max(m.nodes, 1), func(clients []*redis.Client, rng *rand.Rand) (func(), error) {
			s := site{opt: shortOptions(rng)}
			for _, c := range clients {
				s.nodes = append(s.nodes, c)
			}
			l, err := m.make(s)
			return (&visitor{locker: l, rng: rng}).step, err
		}})
	}
	for _, s := range broken.All() {
		all = append(all, crowd{"broken/" + s.Name, s.Nodes, func(clients []*redis.Client, rng *rand.Rand) (func(), error) {
			var nodes []redis.Cmdable
			for _, c := range clients {
				nodes = append(nodes, c)
			}
			l, err := s.New(nodes, broken.Options{Options: shortOptions(rng), Identity: fmt.Sprint(rng.Uint64())})
			return (&visitor{locker: l, rng: rng}).step, err
		}})
	}
	for _, mode := range fence.Modes()[1:] {
		all = append(all, crowd{"guard/" + string(mode), 1, func(clients []*redis.Client, rng *rand.Rand) (func(), error) {
			g, err := redisguard.New(clients[0], mode)
			return func() { guarded(g, rng) }, err
		}})
	}
	for where, script := range scripts {
		if !strings.Contains(script, "broken: enter, one token") {
			continue // the script of a specimen's right sibling, which only tests can create
		}
		all = append(all, crowd{where, 1, func(clients []*redis.Client, rng *rand.Rand) (func(), error) {
			return func() {
				keys := []string{"lock:{order:42}", "lock:{order:42}:token"}
				redis.NewScript(script).Run(context.Background(), clients[0], keys, string(rune('a'+rng.IntN(2))), 120)
			}, nil
		}})
	}
	return all
}

// shortOptions make many events happen in a short time, since the time is real.
func shortOptions(rng *rand.Rand) lock.Options {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	return lock.Options{
		TTL: 120 * time.Millisecond, Backoff: lock.Backoff{Min: 5 * time.Millisecond, Max: 10 * time.Millisecond},
		Clock: wallClock{}, Entropy: rand.NewChaCha8(seed), Jitter: rand.NewPCG(rng.Uint64(), 1),
	}
}

// wallClock is the machine's clock.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (wallClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// visitor is an owner with random operations.
type visitor struct {
	locker lock.Locker
	rng    *rand.Rand
	leases []lock.Lease
}

func (v *visitor) step() {
	ctx := context.Background()
	lease := func() lock.Lease { return v.leases[len(v.leases)-1-v.rng.IntN(min(len(v.leases), 4))] }
	switch what := v.rng.IntN(10); {
	case what < 4 || len(v.leases) == 0:
		v.enter(ctx)
	case what < 7:
		_ = lease().Release(ctx)
	case what < 9:
		if e, ok := lease().(lock.Extender); ok {
			_ = e.Extend(ctx)
		}
	default:
		time.Sleep(time.Duration(v.rng.IntN(60)) * time.Millisecond)
	}
}

// enter asks for a lock, with or without waiting, without a name or as one of two owners.
func (v *visitor) enter(ctx context.Context) {
	l := v.locker
	if owned, ok := l.(lock.Owned); ok && v.rng.IntN(4) > 0 {
		l = owned.As(string(rune('a' + v.rng.IntN(2))))
	}
	ask := l.Acquire
	if t, ok := l.(lock.Trier); ok && v.rng.IntN(2) == 0 {
		ask = t.TryAcquire
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(5+v.rng.IntN(50))*time.Millisecond)
	if lease, err := ask(ctx, fmt.Sprint("order:", v.rng.IntN(2))); err == nil {
		v.leases = append(v.leases, lease)
	}
	context.AfterFunc(ctx, cancel) // some specimens renew until it ends
}

// guarded reads or writes at random.
func guarded(g *redisguard.Guard, rng *rand.Rand) {
	op := fence.Op{Token: rng.Uint64N(4), Grant: string(rune('a' + rng.IntN(3))), Version: rng.Uint64N(3)}
	field := []string{"balance", "owner"}[rng.IntN(2)]
	if rng.IntN(2) == 0 {
		_, _ = g.Read(context.Background(), "order:42", field, op)
		return
	}
	_ = g.Write(context.Background(), "order:42", field, fmt.Sprint("value ", rng.IntN(100)), op)
}

// record runs three owners of a crowd alternately, and then repeats some of their requests in random order. It returns
// the requests to each node.
func (c crowd) record(t testing.TB, addrs []string) (sequences [][]execution, err error) {
	const owners, steps, repeats = 3, 40, 60 // repeats on all nodes together
	var recorders []*recorder
	for _, addr := range addrs[:c.nodes] {
		recorders = append(recorders, newRecorder(t, addr, c.name+":"))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var crowd [owners]func()
	for i := range crowd {
		var clients []*redis.Client
		for _, r := range recorders {
			clients = append(clients, r.client())
		}
		if crowd[i], err = c.act(clients, rand.New(rand.NewPCG(rng.Uint64(), 3))); err != nil {
			return nil, err
		}
	}
	for range steps {
		crowd[rng.IntN(owners)]()
	}
	for _, r := range recorders {
		r.repeat(rng, repeats/c.nodes)
		sequences = append(sequences, r.stop())
	}
	return sequences, nil
}

// repeat runs recorded scripts again, in random order, and sometimes replaces a key.
func (r *recorder) repeat(rng *rand.Rand, times int) {
	r.mu.Lock()
	known := slices.Clone(r.all)
	r.mu.Unlock()
	for range times {
		e := known[rng.IntN(len(known))]
		_, _ = r.exec(execution{script: e.script, keys: e.keys, args: e.args})
		switch rng.IntN(12) {
		case 0:
			e := known[rng.IntN(len(known))]
			_, _ = r.exec(execution{script: unexpected[rng.IntN(len(unexpected))], keys: e.keys[:1]})
		case 1, 2:
			time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
		}
	}
}

// unexpected are states of a key that a script may not expect.
var unexpected = []string{
	"redis.call('DEL', KEYS[1])\nreturn redis.call('SET', KEYS[1], 'not a number')",
	"redis.call('DEL', KEYS[1])\nreturn redis.call('HSET', KEYS[1], 'field', '1')",
	"redis.call('DEL', KEYS[1])\nreturn redis.call('ZADD', KEYS[1], 1, 'member')",
	"redis.call('DEL', KEYS[1])\nreturn redis.call('RPUSH', KEYS[1], 'element')",
	"return redis.call('DEL', KEYS[1])",
	"return redis.call('PEXPIRE', KEYS[1], 50)",
	"return redis.call('PERSIST', KEYS[1])",
}

var inGo = regexp.MustCompile("redis\\.NewScript\\(`([^`]*)`\\)")

// ourScripts are all scripts below this folder, by their location.
func ourScripts(t *testing.T) map[string]string {
	t.Helper()
	scripts := map[string]string{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".lua") && !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".lua") {
			scripts[path] = string(text)
			return nil
		}
		for i, m := range inGo.FindAllStringSubmatch(string(text), -1) {
			scripts[fmt.Sprintf("%s, number %d", path, i+1)] = m[1]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 10 {
		t.Fatalf("only %d scripts found", len(scripts))
	}
	return scripts
}
