package testleaders_test

import (
	"testing"
	"time"

	"locksim/internal/soak"
	"locksim/internal/testleaders"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune/leaders"
	"locksim/scenarios/zklocks"
)

// s is a second.
const s = time.Second

// requests is what the requests of an election take, which the arithmetic leaves out.
const requests = 100 * time.Millisecond

// The elections of etcd's package concurrency, and of the Lock of ZooKeeper's Go client, do in the simulated world what
// the arithmetic says.
func TestPlayedElectionsAgree(t *testing.T) { playedElectionsAgree(t, 3) }

func TestManyPlayedElectionsAgree(t *testing.T) {
	soak.Only(t, "it plays 1,100 elections")
	playedElectionsAgree(t, 100)
}

func playedElectionsAgree(t *testing.T, runs int) {
	t.Helper()
	e, z := leaders.Etcd{TTL: 10 * s}, leaders.ZooKeeper{SessionTimeout: 10 * s, Tick: leaders.Tick}
	etcd := testleaders.Trial{Lock: etcdlocks.Election(), World: "etcd: 3", Servers: []string{"e0", "e1", "e2"},
		TTL: e.TTL, Apart: e.TTL/3 + s/2, Within: requests}
	zookeeper := testleaders.Trial{Lock: zklocks.Library(), World: "zookeeper: 3", Servers: []string{"z0", "z1", "z2"},
		TTL: z.SessionTimeout, Apart: z.SessionTimeout / 3, Within: requests}
	for _, tr := range []tunings.Trouble{e.Outage(2), e.Outage(12), e.Outage(30), e.Pause(8), e.Pause(20), e.Crash()} {
		etcd.Agrees(t, tr, runs)
	}
	for _, tr := range []tunings.Trouble{z.Outage(5), z.Outage(30), z.Pause(8), z.Pause(20), z.Crash()} {
		zookeeper.Agrees(t, tr, runs)
	}
}
