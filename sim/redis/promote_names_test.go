package redis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
)

// TestImpossiblePromotion shows that it changes nothing, and the error or
// event.
func TestImpossiblePromotion(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Nodes: 2, Replicas: 2}), func(c *client) {
		c.world(func(w *sim.World) error {
			for _, wrong := range []struct {
				f    faults.Failover
				want string
			}{
				{faults.Failover{To: "r1"}, "r1 is not a replica of r0"},
				{faults.Failover{To: "r0c"}, `no server listens at "r0c": this world has r0, r1, r0a, r0b`},
				{faults.Failover{Clients: []string{"c7"}}, `no process "c7"`},
			} {
				if err := w.Faults().Promote(wrong.f); err == nil || !strings.Contains(err.Error(), wrong.want) {
					t.Errorf("%v: %v, want %s", wrong.f, err, wrong.want)
				}
			}
			return errors.Join(w.Faults().Promote(faults.Failover{To: "r0"}), w.Faults().Crash("r0a", faults.CrashProcess),
				w.Faults().Promote(faults.Failover{}))
		})
		c.at(simredis.Primary).want("SET k v", "OK")
	})
	want := []string{"r0: it is primary", "r0a: it is down"}
	if diff := cmp.Diff(want, texts(res.Trace, "world", "no-promote")); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got := texts(res.Trace, "world", "promote"); got != nil {
		t.Errorf("promoted %q", got)
	}
}

// TestFaultsFollowTheName shows that a fault which names the primary affects
// the current one.
func TestFaultsFollowTheName(t *testing.T) {
	res := withClient(t, with(simredis.Servers{Replicas: 1}), func(c *client) {
		c.world(promote(faults.Failover{Old: faults.OldDemoted}))
		between := []string{simredis.Primary}
		c.world(func(w *sim.World) error {
			return errors.Join(w.Faults().Cut(faults.Partition{Between: between, And: []string{"c0"}, For: time.Second}),
				w.Faults().Crash(simredis.Primary, faults.CrashPower))
		})
		if between[0] != simredis.Primary {
			t.Errorf("the fault was changed to %q", between)
		}
	})
	for _, kind := range []string{"cut", "crash"} {
		if got := texts(res.Trace, "world", kind); len(got) != 1 || !strings.HasPrefix(got[0], "r0a: ") {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// roleOf is the role of a server and its offset.
type roleOf struct {
	Name, Role string
	Offset     int64
}

// roles are the roles of all servers of a world.
func roles(w *sim.World) []roleOf {
	var out []roleOf
	for _, n := range w.Nodes() {
		role, offset := n.Server().(sim.Ranked).Role()
		out = append(out, roleOf{n.Name(), role, offset})
	}
	return out
}

// TestRoles shows the roles of all servers during a failover.
func TestRoles(t *testing.T) {
	withClient(t, with(simredis.Servers{Nodes: 2, Replicas: 2}), func(c *client) {
		c.want("SET k v", "OK")
		c.want("SET l v", "OK")
		time.Sleep(10 * time.Millisecond)
		c.world(promote(faults.Failover{}))
		time.Sleep(10 * time.Millisecond)
		c.world(func(w *sim.World) error {
			want := []roleOf{{"r0", "down", 2}, {"r1", "primary", 0}, {"r0a", "primary", 2}, {"r0b", "replica of r0a", 2}}
			if diff := cmp.Diff(want, roles(w)); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			return nil
		})
	})
}
