package sim

import (
	"fmt"
	"strconv"
)

// Restart brings a crashed Redis node back, with what its persistence has kept
// and its clock has not let expire meanwhile. It knows no scripts, no
// subscriptions and nobody who waits; connections from before are reset when
// something comes over them. A replica, and an old primary that was fenced or
// demoted, follows the present primary with a full synchronisation; the
// replicas of a primary that comes back take over what it has now, be it
// nothing.
//
// A crashed process is started again as by [World.Revive], with nobody to run
// anything on it. A node or process that has not crashed is an error.
func (w *World) Restart(process string) error {
	n, err := w.Node(process)
	if err != nil {
		_, err = w.Revive(process)
		return err
	}
	if !n.Down() {
		return fmt.Errorf("%s has not crashed", process)
	}
	n.restart()
	return nil
}

func (n *RedisNode) restart() {
	n.condition = up
	n.tick()
	step := n.w.record("world", "restart", n.id, strconv.Itoa(len(n.disk.kept))+" keys kept")
	if l := n.ledger; l != nil {
		l.replace(n.disk.kept, l.past, origin{step: step, kind: KeyRestored})
	}
	if n.leader != nil {
		n.follow(n.leader).resync()
	}
	for _, r := range n.followers {
		r.resync()
	}
	n.bounceStrays()
	n.releaseDials()
}
