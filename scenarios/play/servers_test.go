package play_test

import (
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/sim"
	"locksim/sim/redis"
)

// A kind of server cannot have the name of a key of the world, of which the list of keys knows all.
func TestServerNamedLikeAKey(t *testing.T) {
	named := func(name string) error {
		l := testruns.Kind(t, "single")
		l.Servers = []play.Servers{{Kind: play.ServerKind{Name: name, Prefix: "g", Make: func(int) sim.Kind { return redis.Servers{Nodes: 1} }}, Count: 1}}
		return l.Validate()
	}
	if err := named("register"); err != nil {
		t.Error(err)
	}
	for _, k := range file.Keys() {
		if err := named(k.Name); k.Group == "world" && (err == nil || !strings.Contains(err.Error(), "no other key of a world")) {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
