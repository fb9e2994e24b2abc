package play_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/redis"
)

// A kind of server cannot have the name of a key of the world, of which the list of keys knows all.
func TestServerNamedLikeAKey(t *testing.T) {
	named := func(name string) error {
		l := testruns.Kind(t, "single")
		l.Servers = []subject.Servers{{Kind: subject.ServerKind{Facts: server.Facts{Name: name, Prefix: "g"},
			Make: func(int) sim.Kind { return redis.Servers{Nodes: 1} }}, Count: 1}}
		return l.Validate()
	}
	if err := named("register"); err != nil {
		t.Error(err)
	}
	for _, k := range file.Keys() {
		if err := named(k.Name); k.Group == "world" &&
			(err == nil || !strings.Contains(err.Error(), "no other key of a world")) {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// A scenario in which a machine loses its power is refused where the servers of a lock say why that cannot be played;
// the crash of a process is not, and neither is a client that loses its power.
func TestPower(t *testing.T) {
	l := testruns.Kind(t, "single")
	why := errors.New("it is not known what is on the disk")
	kind := subject.ServerKind{Facts: server.Facts{Name: "register", Prefix: "g"},
		Make:  func(int) sim.Kind { return redis.Servers{Nodes: 1} },
		Power: func() error { return why }}
	l.Servers = append(slices.Clone(l.Servers), subject.Servers{Kind: kind, Count: 1})
	try := func(crash string) error {
		text := "name: x\nworld: {redis: 1, register: 1, clients: 2}\nfaults: [{at: 1s, crash: {" + crash + "}}]\n"
		sc, err := file.Parse("x.yaml", []byte(text), subject.ServerNames(l)...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = play.Run(sc, l, play.RunOptions{Seed: 1})
		return err
	}
	if err := try("process: g0, mode: power"); err == nil || !strings.Contains(err.Error(), "x.yaml:3:") ||
		!strings.Contains(err.Error(), why.Error()) {
		t.Errorf("the power of g0: %v", err)
	}
	for _, crash := range []string{"process: g0", "process: c0, mode: power", "process: r0, mode: power"} {
		if err := try(crash); err != nil && strings.Contains(err.Error(), why.Error()) {
			t.Errorf("%s: %v", crash, err)
		}
	}
	w := file.World{}
	if subject.Equip(&w, l); len(w.Servers) != 1 || !slices.Contains(w.Servers[0].Lacks, file.PowerLoss) {
		t.Errorf("searches have %+v", w.Servers)
	}
	why = nil
	if err := try("process: g0, mode: power"); err != nil && strings.Contains(err.Error(), "cannot lose its power") {
		t.Error(err)
	}
}
