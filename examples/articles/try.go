package articles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/sqllocks"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/postgres"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// Tried is what one run says of a recipe that is no lock.
type Tried struct {
	// Tested says that the run could have shown what is wrong: clients met and, where faults were drawn, one was felt.
	Tested bool
	// Wrong says what the recipe did against its text; "" for nothing.
	Wrong string
	// Err says why there is no verdict.
	Err error
}

// Check judges the recipe as [scenarios.Check] judges a lock: at its defaults, or as the options say. Of them a recipe
// that is no lock follows Seed and Runs.
func (r Recipe) Check(t testing.TB, o scenarios.Options) {
	t.Helper()
	if r.Try == nil {
		scenarios.Check(t, r.Lock, o)
		return
	}
	first, runs, tested := max(o.Seed, 1), cmp.Or(o.Runs, 300), 0
	for seed := first; seed < first+uint64(runs); seed++ {
		switch got := r.Try(seed); {
		case got.Err != nil:
			t.Fatalf("seed %d: a run of %s has no verdict: %v", seed, r.ID, got.Err)
		case got.Wrong != "":
			t.Fatalf("seed %d: %s fails: %s", seed, r.ID, got.Wrong)
		case got.Tested:
			tested++
		}
	}
	if 4*tested < runs {
		t.Fatalf("%d of %d runs tested %s: that is no evidence", tested, runs, r.ID)
	}
	t.Log(r.ID + ": no violation in " + prose.Thousands(runs) + " runs, " + prose.Thousands(tested) +
		" of which tested it")
}

// changer changes a value without a lock.
type changer interface {
	Change(ctx context.Context, name string, change func(value string) (string, error)) error
}

// changing is a world in which clients append words to one value. Each word whose change was confirmed must be there
// once, one whose change was refused must not, and of one without an answer either is right.
type changing struct {
	servers sim.Kind
	names   []string // of the servers, at which faults strike
	open    func(p *sim.Process) (changer, error)
}

const (
	appenders = 3
	words     = 4
	// settling is how long the servers have until the value is read.
	settling = 30 * time.Second
)

// appended is what became of the words of one client.
type appended struct {
	confirmed, refused, unknown []string
	again                       int // how often a change was made again, or given up, since another one was faster
	err                         error
}

// try plays one run. Runs with an odd seed have a fault, or two.
func (c changing) try(seed uint64) (out Tried) {
	made, felt, left := make([]appended, appenders), false, ""
	cfg := sim.Config{Seed: seed, Servers: []sim.Kind{c.servers}, Clients: appenders, Untraced: true}
	_, out.Err = sim.Run(cfg, func(w *sim.World) error {
		down := map[string]bool{}
		if seed%2 == 1 {
			c.strike(w.Faults().WhenFelt(func() { felt = true }), w, rand.New(rand.NewPCG(seed, 1)), down)
		}
		for i := range made {
			p := w.Client(i)
			p.Go(func() { made[i] = c.append(p) })
		}
		if err := w.RunUntil(w.Idle); err != nil {
			return err
		}
		w.Heal()
		for _, server := range c.names {
			if down[server] {
				if err := w.Faults().Restart(server); err != nil {
					return err
				}
			}
		}
		if err := w.RunFor(settling); err != nil {
			return err
		}
		reader := w.NewProcess("reader")
		var failed error
		reader.Go(func() { left, failed = c.read(reader) })
		return errors.Join(w.RunUntil(w.Idle), failed)
	})
	met := 0
	for _, m := range made {
		out.Err, met = errors.Join(out.Err, m.err), met+m.again
	}
	if out.Err == nil {
		out.Wrong = lost(strings.Fields(left), made)
	}
	out.Tested = met > 0 && (seed%2 == 0 || felt)
	return out
}

// strike plans one fault, or two. down has the servers that have crashed and not restarted.
func (c changing) strike(f *sim.Faults, w *sim.World, dice *rand.Rand, down map[string]bool) {
	for range 1 + dice.IntN(2) {
		client, server := fmt.Sprint("c", dice.IntN(appenders)), c.names[dice.IntN(len(c.names))]
		long := time.Duration(1+dice.IntN(20)) * time.Second
		w.At(time.Duration(dice.IntN(2000))*time.Millisecond, []func(){
			func() { _ = f.Pause(client, long) },
			func() { _ = f.Reset(client, server) },
			func() { _ = f.Stall(server, long) },
			func() {
				_ = f.Cut(faults.Partition{Between: []string{client}, And: c.names, For: long, Bytes: faults.BytesHold,
					Direction: faults.DirectionBoth})
			},
			func() { _ = f.Crash(client, faults.CrashProcess) },
			func() {
				if down[server] || f.Crash(server, faults.CrashProcess) != nil {
					return
				}
				down[server] = true
				w.At(w.Now()+long, func() {
					if down[server] {
						_, down[server] = f.Restart(server), false
					}
				})
			},
		}[dice.IntN(6)])
	}
}

// append appends the words of a client, and takes some time for each.
func (c changing) append(p *sim.Process) (made appended) {
	recipe, err := c.open(p)
	if err != nil {
		made.err = err
		return made
	}
	dice := p.Rand("think")
	for n := range words {
		word, calls := fmt.Sprintf("%s.%d", p.Name(), n), 0
		ctx, end := context.WithTimeout(p.Context(), time.Minute)
		err := recipe.Change(ctx, "order", func(value string) (string, error) {
			calls++
			return value + " " + word, p.Clock().Sleep(ctx, 50*time.Millisecond)
		})
		end()
		made.again += max(calls-1, 0)
		switch {
		case err == nil:
			made.confirmed = append(made.confirmed, word)
		case errors.Is(err, errChanged):
			made.refused = append(made.refused, word)
		default:
			made.unknown = append(made.unknown, word)
		}
		if p.Clock().Sleep(p.Context(), time.Duration(dice.IntN(400))*time.Millisecond) != nil {
			break
		}
	}
	return made
}

// read reads the value without changing it.
func (c changing) read(p *sim.Process) (value string, err error) {
	recipe, err := c.open(p)
	if err != nil {
		return "", err
	}
	seen := errors.New("it was read")
	err = recipe.Change(p.Context(), "order", func(now string) (string, error) {
		value = now
		return "", seen
	})
	if errors.Is(err, seen) {
		err = nil
	}
	return value, err
}

// lost says what is wrong with a value.
func lost(value []string, made []appended) string {
	for _, m := range made {
		for _, word := range m.confirmed {
			if n := count(value, word); n != 1 {
				return fmt.Sprintf("%s was confirmed, and is there %d times: %s", word, n, value)
			}
		}
		for _, word := range m.refused {
			if n := count(value, word); n != 0 {
				return fmt.Sprintf("%s was refused, and is there %d times: %s", word, n, value)
			}
		}
		for _, word := range m.unknown {
			if n := count(value, word); n > 1 {
				return fmt.Sprintf("%s is there %d times: %s", word, n, value)
			}
		}
	}
	return ""
}

func count(all []string, word string) int {
	n := 0
	for _, w := range all {
		if w == word {
			n++
		}
	}
	return n
}

// inRow is the world of recipe A19.
func inRow() changing {
	return changing{database().Make(1), []string{postgres.Name}, func(p *sim.Process) (changer, error) {
		db, err := sqllocks.Open(p)
		return versioned{db}, err
	}}
}

// inMemory is the world of the recipe STM.
func inMemory() changing {
	members := []string{"e0", "e1", "e2"}
	return changing{etcdlocks.Kind().Make(len(members)), members, func(p *sim.Process) (changer, error) {
		client, err := etcd.Client(p, members...)
		return memory{client}, err
	}}
}

// computed plays processes that want one value of recipe A20. No fault strikes.
func computed(seed uint64) (out Tried) {
	var by []string
	out = cached(seed, func(p *sim.Process, client *redis.Client) error {
		c := &localCache{values: map[string]string{}, lock: func(key string) mutex {
			return &setNX{ctx: p.Context(), now: p.WallClock().Now, client: client, key: key, id: newID(), ttl: ttl}
		}}
		_, err := c.Get("page", wait, func() (string, error) {
			by = append(by, p.Name())
			return "text", p.Clock().Sleep(p.Context(), 500*time.Millisecond)
		})
		return err
	})
	if slices.Sort(by); len(by) > 1 {
		out.Wrong = fmt.Sprintf("the page is computed %d times, by %s", len(by), prose.Commas(by))
	}
	return out
}

// cached runs a function in three processes that start within a second, each with a client of one Redis.
func cached(seed uint64, get func(p *sim.Process, client *redis.Client) error) (out Tried) {
	const processes = 3
	failed := make([]error, processes)
	cfg := sim.Config{Seed: seed, Servers: []sim.Kind{simredis.Servers{}}, Clients: processes, Untraced: true}
	_, out.Err = sim.Run(cfg, func(w *sim.World) error {
		for i := range failed {
			p := w.Client(i)
			p.Go(func() {
				if p.Clock().Sleep(p.Context(), time.Duration(p.Rand("start").IntN(1000))*time.Millisecond) == nil {
					options := redisclient.Stock()
					options.Addr = p.Address(scenarios.Primary)
					failed[i] = get(p, redisclient.With(p, options))
				}
			})
		}
		return w.RunUntil(w.Idle)
	})
	out.Err, out.Tested = errors.Join(append(failed, out.Err)...), true
	return out
}

// named asks recipe A21 for the locks of ids around 0.
func named(uint64) Tried {
	names := map[string]bool{}
	for id := int64(-1000); id <= 1000; id++ {
		names[segment(id)] = true
	}
	if len(names) == segments {
		return Tried{Tested: true}
	}
	return Tried{Tested: true, Wrong: fmt.Sprintf("the ids have %d segments, and not %d: that of -3 is %s", len(names),
		segments, segment(-3))}
}
