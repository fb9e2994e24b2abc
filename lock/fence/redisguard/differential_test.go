package redisguard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
	"locksim/lock/locktest/redisserver"
)

// model is a hash of two fields under a rule of package fence.
type model struct {
	mode     fence.Mode
	state    fence.State
	values   map[string]string
	versions map[string]uint64
}

// read returns what a guard must return.
func (m *model) read(field string, op fence.Op) (redisguard.Value, error) {
	m.state.Version = m.versions[field]
	next, err := m.mode.Read(m.state, op)
	if err != nil {
		return redisguard.Value{}, err
	}
	m.state = next
	text, found := m.values[field]
	return redisguard.Value{Text: text, Found: found, Version: m.versions[field]}, nil
}

func (m *model) write(field, value string, op fence.Op) error {
	m.state.Version = m.versions[field]
	next, err := m.mode.Write(m.state, op)
	if err == nil {
		m.state, m.values[field], m.versions[field] = next, value, next.Version
	}
	return err
}

var (
	fields = []string{"balance", "owner"}
	grants = []string{"", "a", "b", "c d"}
	// Neighbours that are equal as floating-point numbers, and numbers that sort differently as text.
	tokens = []uint64{0, 1, 2, 9, 10, 1 << 53, 1<<53 + 1, 1<<64 - 2, 1<<64 - 1}
)

func drawOp(t *rapid.T) fence.Op {
	return fence.Op{
		Token:   rapid.SampledFrom(tokens).Draw(t, "token"),
		Grant:   rapid.SampledFrom(grants).Draw(t, "grant"),
		Version: rapid.Uint64Range(0, 3).Draw(t, "version"),
	}
}

// The guard and the rule return the same results for the same operations, with the same texts.
func TestSameAsTheRules(t *testing.T) {
	for _, mode := range rules {
		t.Run(string(mode), func(t *testing.T) {
			_, client := node(t)
			sameAsTheRules(t, client, mode)
		})
	}
}

// The same on a real Redis, if one is installed.
func TestSameAsTheRulesOnRedis(t *testing.T) {
	server := redisserver.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	for _, mode := range rules {
		t.Run(string(mode), func(t *testing.T) { sameAsTheRules(t, client, mode) })
	}
}

func sameAsTheRules(t *testing.T, client *redis.Client, mode fence.Mode) {
	g := guard(t, client, mode)
	verdicts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		if err := client.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		m := &model{mode: mode, values: map[string]string{}, versions: map[string]uint64{}}
		for i := range rapid.IntRange(1, 25).Draw(t, "operations") {
			verdicts[step(t, g, m, fmt.Sprint(i))]++
		}
		for _, field := range fields {
			if got := client.HGet(t.Context(), key, field).Val(); got != m.values[field] {
				t.Fatalf("at the end %s is %q, want %q", field, got, m.values[field])
			}
		}
	})
	wantBoth(t, mode, verdicts)
}

// step does one operation on both, and returns its verdict.
func step(t *rapid.T, g *redisguard.Guard, m *model, value string) string {
	field, op := rapid.SampledFrom(fields).Draw(t, "field"), drawOp(t)
	if rapid.Bool().Draw(t, "read") {
		want, wantErr := m.read(field, op)
		got, err := g.Read(t.Context(), key, field, op)
		compare(t, "read", op, err, wantErr)
		if got != want {
			t.Fatalf("read %+v: %+v, want %+v", op, got, want)
		}
		return verdict("read", err)
	}
	err := g.Write(t.Context(), key, field, value, op)
	compare(t, "write", op, err, m.write(field, value, op))
	return verdict("write", err)
}

func verdict(verb string, err error) string {
	if err == nil {
		return verb + " accepted"
	}
	return verb + " refused"
}

// wantBoth checks that the sequences distinguish the rule from one that accepts or refuses everything.
func wantBoth(t *testing.T, mode fence.Mode, verdicts map[string]int) {
	t.Helper()
	want := []string{"read accepted", "write accepted", "write refused"}
	if mode == fence.Seal || mode == fence.Strict {
		want = append(want, "read refused")
	}
	enough := 20
	if testing.Short() {
		enough = 1 // rapid makes a fifth of the checks
	}
	for _, v := range want {
		if verdicts[v] < enough {
			t.Errorf("mode %s: %s only %d times: the sequences test too little (%v)", mode, v, verdicts[v], verdicts)
		}
	}
}

func compare(t *rapid.T, verb string, op fence.Op, got, want error) {
	t.Helper()
	if want == nil && got == nil {
		return
	}
	if want == nil || got == nil || !strings.HasSuffix(got.Error(), ": "+want.Error()) ||
		errors.Is(got, fence.ErrStale) != errors.Is(want, fence.ErrStale) ||
		errors.Is(got, fence.ErrNoGrant) != errors.Is(want, fence.ErrNoGrant) {
		t.Fatalf("%s %+v: %v, want %v", verb, op, got, want)
	}
}
