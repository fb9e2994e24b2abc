package play_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/sim/redis"
)

// Every kind and every specimen in the list can be made, and is as listed.
func TestEveryKindIsMade(t *testing.T) {
	for _, name := range append(kinds.Names(), kinds.Specimens()...) {
		k, err := kinds.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Kind(name)
		if err != nil {
			t.Fatal(err)
		}
		if l.Name != name || l.New == nil || l.Nodes() != k.Redis || l.Tokens != k.Tokens || k.About == "" ||
			k.ForWhom == "" {
			t.Errorf("%s: %d servers, tokens %v, made %v; listed as %+v", name, l.Nodes(), l.Tokens, l.New != nil, k)
		}
		sc := testruns.Parse(t, "name: calm\nlock: {kind: "+name+"}\n")
		if _, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The scenario file and the Redis of the world know the same ways to persist, and
// have the same default.
func TestPersistences(t *testing.T) {
	var inFile, inWorld []string
	for _, p := range file.Persistences() {
		inFile = append(inFile, string(p))
	}
	for _, p := range redis.Persistences() {
		inWorld = append(inWorld, string(p))
	}
	if diff := cmp.Diff(inWorld, inFile); diff != "" {
		t.Errorf("-world +file:\n%s", diff)
	}
}
