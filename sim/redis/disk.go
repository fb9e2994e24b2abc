package redis

import (
	"maps"
	"time"

	"locksim/faults"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// disk has what a node keeps over a crash. Its zero value keeps nothing.
//
// An append-only file gets every effect before the reply to the command. A
// killed process loses none of them, since they are in the page cache of the
// machine. A power loss loses what was not on the disk yet: with everysec up to
// a second, with always nothing. With snapshots, either crash loses all effects
// since the last one. Redis delays writes during a long fsync, and loses them
// with the process: this is not simulated, since an fsync here takes no time.
type disk struct {
	server  *Server
	mode    Persistence
	every   time.Duration // between snapshots
	kept    map[dbKey]datum
	unsaved []batch // effects since the last fsync
	planned bool    // an fsync or a snapshot is planned
}

// write gets effects. An fsync or snapshot is planned only after effects, so
// that an idle node has no events.
func (d *disk) write(b batch) {
	switch d.mode {
	case PersistEverysec:
		d.unsaved = append(d.unsaved, b)
		d.plan(time.Second, d.sync)
	case PersistRDB:
		d.plan(d.every, d.snapshot)
	}
}

// plan calls do at the next multiple of a period, by the machine's clock.
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

func (d *disk) sync() {
	if d.kept == nil {
		d.kept = map[dbKey]datum{}
	}
	for _, b := range d.unsaved {
		for _, e := range b.effects {
			if e.datum.exists() {
				d.kept[e.key] = e.datum
			} else {
				delete(d.kept, e.key)
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

// rewrite puts all keys of the node on the disk at once: after a full
// synchronisation, and with snapshots after FLUSHALL.
func (d *disk) rewrite() {
	if d.mode != PersistNone {
		d.kept, d.unsaved = maps.Clone(d.server.ledger.data), nil
	}
}

// crash decides what is kept. A planned fsync or snapshot is dropped.
func (d *disk) crash(mode faults.CrashMode) {
	switch {
	case d.mode == PersistEverysec && mode == faults.CrashPower && len(d.unsaved) > 0:
		d.server.node.Reached(rare.RedisUnsynced)
	case d.mode == PersistRDB && d.planned:
		d.server.node.Reached(rare.RedisUnsaved)
	case d.mode == PersistAlways, d.mode == PersistEverysec && mode == faults.CrashProcess:
		d.rewrite()
	}
	d.unsaved, d.planned = nil, false
}

// Persistence says what a Redis node keeps over a crash.
type Persistence string

const (
	// PersistNone keeps nothing: the node restarts empty.
	PersistNone Persistence = "none"
	// PersistRDB keeps the last snapshot, for either kind of crash.
	PersistRDB Persistence = "rdb"
	// PersistEverysec writes a log and syncs it to disk every second: a killed
	// process loses nothing, since the page cache outlives it, and a power loss
	// loses up to a second (F17).
	PersistEverysec Persistence = "everysec"
	// PersistAlways syncs each write to disk before the reply.
	PersistAlways Persistence = "always"
)

// Persistences lists them, the default first. The caller owns the slice.
func Persistences() []Persistence {
	return []Persistence{PersistNone, PersistRDB, PersistEverysec, PersistAlways}
}
