package nats

import (
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/nats-io/nats-server/v2/server/ats"
)

// Package ats of the server has the time of its caches and of its looks for keys that have expired, for the whole
// program: a goroutine of the first server of all would write it every 100 ms, by the clock of that server's bubble.
// Here each server has such a goroutine, and that of package ats never begins, since it takes itself to be in use
// already.
var (
	//go:linkname atsTime github.com/nats-io/nats-server/v2/server/ats.utime
	atsTime atomic.Int64
	//go:linkname atsUsers github.com/nats-io/nats-server/v2/server/ats.refs
	atsUsers atomic.Int64
)

func init() {
	serveIfAsked() // a server of a live run has no bubble, and its package ats is the one of NATS
	atsUsers.Store(1)
}

// keepTime writes the time of package ats until stop is closed.
func keepTime(stop <-chan struct{}) {
	const often = 100 * time.Millisecond // as there
	t := time.NewTicker(often)
	defer t.Stop()
	for {
		atsTime.Store(time.Now().UnixNano())
		select {
		case <-t.C:
		case <-stop:
			return
		}
	}
}
