package redis

import (
	"maps"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// disk is what a node keeps over a crash. Its zero value keeps nothing.
//
// An append-only file takes every effect before the command is answered. Who
// kills the process loses nothing of it, since what was written is in the page
// cache of the machine. A power loss takes what was not on the disk yet: with
// everysec up to a second, with always nothing. A snapshot loses what came after
// it in either case. That Redis keeps back writes while an fsync takes long, and
// loses them with the process, is left out: an fsync here takes no time.
type disk struct {
	server  *Server
	mode    Persistence
	every   time.Duration // between snapshots
	kept    map[place]datum
	unsaved []batch // written since the last fsync
	planned bool    // that fsync, or a snapshot
}

// write takes effects. What is to become of them later is planned only where
// there are some, so that a node that does nothing costs nothing.
func (d *disk) write(b batch) {
	switch d.mode {
	case PersistEverysec:
		d.unsaved = append(d.unsaved, b)
		d.plan(time.Second, d.sync)
	case PersistRDB:
		d.plan(d.every, d.snapshot)
	}
}

// plan does something at the next multiple of a period, by the machine's clock.
func (d *disk) plan(period time.Duration, do func()) {
	if d.planned {
		return
	}
	d.planned = true
	node := d.server.node
	node.After(period-node.Monotonic()%period, func() {
		d.planned = false
		do()
	})
}

// sync is the fsync of each second.
func (d *disk) sync() {
	if d.kept == nil {
		d.kept = map[place]datum{}
	}
	for _, b := range d.unsaved {
		for _, e := range b.effects {
			if e.datum.exists() {
				d.kept[e.place] = e.datum
			} else {
				delete(d.kept, e.place)
			}
		}
	}
	d.unsaved = nil
}

func (d *disk) snapshot() {
	n := d.server
	n.tick()
	d.kept = maps.Clone(n.ledger.data)
	n.node.Record("", trace.Snapshot{Keys: len(d.kept)})
}

// rewrite puts all that the node has on the disk at once: after a full
// synchronisation, and after FLUSHALL where there are snapshots.
func (d *disk) rewrite() {
	if d.mode != PersistNone {
		d.kept, d.unsaved = maps.Clone(d.server.ledger.data), nil
	}
}

// crash decides what is kept. What was planned for later ends with the process.
func (d *disk) crash(mode faults.CrashMode) {
	switch {
	case d.mode == PersistAlways, d.mode == PersistEverysec && mode == faults.CrashProcess:
		d.rewrite()
	}
	d.unsaved, d.planned = nil, false
}
