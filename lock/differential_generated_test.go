package lock_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock/locktest/redisserver"
	"locksim/sim/redis/redisclient"
)

// liveClient is a client of a new real server.
func liveClient(t *testing.T) *redis.Client {
	t.Helper()
	o := redisclient.Quiet()
	o.Addr = redisserver.Start(t).Addr()
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// generated are some hundred random scripts, in sequences that begin on an empty server.
func generated() [][]execution {
	const sequences, length = 120, 4
	all := make([][]execution, sequences)
	for seed := range all {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		for range length {
			all[seed] = append(all[seed], execution{
				script:  generate(rng),
				keys:    []string{"str", "hash", "zset"},
				args:    []string{"12", fmt.Sprint(rng.IntN(20)), "50000"},
				watched: []string{"str", "hash", "zset", "count", "list", "set", "str:seen", "hash:seen", "zset:seen"},
			})
		}
	}
	return all
}

// recordSequence runs a sequence of executions on a server that is empty, and does so anew if a script took so long
// that it has read the clock at several instants: the times to live that it has set or read are then none that a
// replica can have.
func recordSequence(sequence []execution, empty func() error, run func(execution) (outcomeOf, error)) error {
	const tries = 20
	for range tries {
		if err := empty(); err != nil {
			return err
		}
		slow := false
		for i := range sequence {
			e := &sequence[i]
			var err error
			if e.got, err = run(*e); err != nil {
				return fmt.Errorf("%w\n%v", err, e)
			}
			slow = slow || e.got.took > luck
		}
		if !slow {
			return nil
		}
	}
	return fmt.Errorf("in %d tries a script always took longer than %v: the machine has too much other work to do", tries,
		luck)
}

func TestSlowSequencesAreRecordedAnew(t *testing.T) {
	for _, slow := range []int{0, 1, 19, 20} { // tries in which the second script is slow
		emptied, ran := 0, 0
		sequence := make([]execution, 3)
		err := recordSequence(sequence, func() error { emptied++; return nil }, func(execution) (outcomeOf, error) {
			got := outcomeOf{took: luck}
			if ran++; ran%len(sequence) == 2 && emptied <= slow {
				got.took += time.Microsecond
			}
			return got, nil
		})
		if (err == nil) != (slow < 20) || emptied != min(slow+1, 20) || ran != 3*emptied {
			t.Errorf("slow in %d tries: emptied %d times, %d runs, error %v", slow, emptied, ran, err)
		}
		if err == nil && sequence[1].got.took > luck {
			t.Errorf("slow in %d tries: the slow one is kept", slow)
		}
	}
}

func TestGeneratedScriptsAreTheSameEverywhere(t *testing.T) {
	server := liveClient(t)
	failed, all := 0, 0
	for seed, sequence := range generated() {
		if err := recordSequence(sequence, func() error { return server.FlushAll(t.Context()).Err() },
			func(e execution) (outcomeOf, error) { return e.run(server) }); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, e := range sequence {
			if all++; e.got.failed {
				failed++
			}
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compare(t, sequence) })
	}
	if failed < all/20 || failed > all/2 {
		t.Errorf("%d of %d scripts fail: the generator makes too few errors, or too many", failed, all)
	}
}

// TestWorldsLuaIsThatOfMiniredis needs no server.
func TestWorldsLuaIsThatOfMiniredis(t *testing.T) {
	for seed, sequence := range generated() {
		for i := range sequence {
			sequence[i].got.at = time.Unix(1_800_000_000, 0).Add(time.Duration(i) * 10 * time.Millisecond)
		}
		want, err := inMiniredis(sequence)
		if err != nil {
			t.Fatal(err)
		}
		got, err := inWorld(sequence)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range sequence {
			want[i].answer = withoutHarmless("miniredis", want[i].answer)
			if d := differ("the world", want[i], got[i]); d != "" {
				t.Errorf("seed %d, execution %d: %s\n%v", seed, i, d, e)
				break
			}
		}
	}
}

// differences are those of miniredis, and of the world built on it, to Redis 7.0. The generator avoids them, and so
// must the locks' scripts.
var differences = []struct {
	why     string
	script  string
	redis   string // its answer
	differs string // the replicas with a different one
}{
	{"libraries for bits and binary formats are missing", "return bit.band(7, 2)", "[2]", "the world, miniredis"},
	{"numbers from 1e14 on become text with all digits", "return 1e15 .. ''", `["1e+15"]`, "the world, miniredis"},
	{"fractions become text with 17 digits, not 14", "return tostring(10 / 3)", `["3.3333333333333"]`,
		"the world, miniredis"},
	{"fractions are arguments of commands with as few digits as possible", "redis.call('SET', KEYS[1], 0.1) return " +
		"redis.call('GET', KEYS[1])",
		`["0.10000000000000001"]`, "the world, miniredis"},
	{"infinity becomes +Inf", "return tostring(1 / 0)", `["inf"]`, "the world, miniredis"},
	{"exponents are not read", "return tonumber('1e3')", "[1000]", "the world, miniredis"},
	{"an empty table is an array in JSON", "return cjson.encode({})", `["{}"]`, "the world, miniredis"},
	{"JSON has no slash escaped", "return cjson.encode('a/b')", `["\"a\\/b\""]`, "the world, miniredis"},
	{"format takes nil", "return pcall(string.format, '%s', nil)", "[<nil>]", "the world, miniredis"},
	{"integers are read with zeros and signs before them", "redis.call('SET', KEYS[1], '01') return redis.pcall('INCR', " +
		"KEYS[1]).err",
		`["ERR value is not an integer or out of range"]`, "the world, miniredis"},
	{"HINCRBY overflows", "redis.call('HSET', KEYS[1], 'f', '9223372036854775807') return redis.pcall('HINCRBY', " +
		"KEYS[1], 'f', 1).err",
		`["ERR increment or decrement would overflow"]`, "the world, miniredis"},
	{"HINCRBY says in other words that a field is no number", "redis.call('HSET', KEYS[1], 'f', 'x') return " +
		"redis.pcall('HINCRBY', KEYS[1], 'f', 1).err",
		`["ERR hash value is not an integer"]`, "the world, miniredis"},
	{"a time to live of nothing is refused in other words", "return redis.pcall('SET', KEYS[1], 'x', 'PX', 0).err",
		`["ERR invalid expire time in 'set' command"]`, "miniredis"},
	{"hashes are in alphabetical order", "redis.call('HSET', KEYS[1], 'b', 1, 'a', 2) return redis.call('HKEYS', KEYS[1])",
		`[["b" "a"]]`, "the world, miniredis"},
	{"tables for RESP3 types are empty arrays", "return {double = 3.5}", `["3.5"]`, "the world, miniredis"},
	{"recursion is not as deep", "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(1000)",
		"[1000]", "the world, miniredis"},
}

func TestKnownDifferences(t *testing.T) {
	server := liveClient(t)
	for _, d := range differences {
		t.Run(d.why, func(t *testing.T) {
			if err := server.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			e := execution{script: d.script, keys: []string{"a"}}
			var err error
			if e.got, err = e.run(server); err != nil {
				t.Fatal(err)
			}
			if e.got.answer != d.redis {
				t.Errorf("Redis answers %s, want %s", e.got.answer, d.redis)
			}
			var differ []string
			for _, r := range replicas {
				got, err := r.run([]execution{e})
				if err != nil {
					t.Fatal(err)
				}
				if withoutHarmless(r.name, got[0].answer) != e.got.answer {
					differ = append(differ, r.name)
				}
				t.Logf("%s answers %s", r.name, got[0].answer)
			}
			if s := strings.Join(differ, ", "); s != d.differs {
				t.Errorf("different answers of %q, want %q: correct the list", s, d.differs)
			}
		})
	}
}

// TestDifferencesAreSeen shows that the comparison can fail.
func TestDifferencesAreSeen(t *testing.T) {
	state := func(change func(*keyState)) outcomeOf {
		k := keyState{key: "a", kind: "zset", ttl: 100, value: `"m":-`, instants: []int64{firstInstant}}
		change(&k)
		return outcomeOf{answer: "[1]", state: []keyState{k}}
	}
	want := state(func(*keyState) {})
	for name, c := range map[string]struct {
		got  outcomeOf
		same bool
	}{
		"equal":               {state(func(*keyState) {}), true},
		"5 ms":                {state(func(k *keyState) { k.ttl -= 5 }), true},
		"6 ms":                {state(func(k *keyState) { k.ttl += 6 }), false},
		"no TTL":              {state(func(k *keyState) { k.ttl = -1 }), false},
		"another type":        {state(func(k *keyState) { k.kind = "set" }), false},
		"another value":       {state(func(k *keyState) { k.value = `"n":-` }), false},
		"an instant 5 ms off": {state(func(k *keyState) { k.instants[0] += 5 }), true},
		"an instant 6 ms off": {state(func(k *keyState) { k.instants[0] -= 6 }), false},
		"an instant fewer":    {state(func(k *keyState) { k.instants = nil }), false},
		"another answer":      {outcomeOf{answer: "[2]", state: want.state}, false},
		"a failure":           {outcomeOf{answer: "[1]", failed: true, state: want.state}, false},
	} {
		if d := differ("the world", want, c.got); (d == "") != c.same {
			t.Errorf("%s: %q", name, d)
		}
	}
}
