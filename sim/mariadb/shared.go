package mariadb

import (
	"context"
	"fmt"
	"sync"
	"time"

	"locksim/internal/mariadbserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// shared is the server of this process.
var shared struct {
	sync.Mutex
	server *Server
}

// Missing says in one line what has to be installed before there can be a server; nil if nothing has.
func Missing() error { return mariadbserver.Missing() }

// Shared is a server that all worlds of this process use, one after another. It is started when it is first asked for,
// which must be outside of any world. Its errors are those of [Start]. Any goroutine may call it.
func Shared() (*Server, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		return shared.server, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start MariaDB: %w", err)
	}
	shared.server = server
	return server, nil
}

// StopShared ends that server, if there is one. No world may use it. It ends soon after the process otherwise.
func StopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	server := shared.server
	shared.server = nil
	return server.Stop()
}

// Failed is a kind of server that cannot be made: a world that has it ends with the error.
func Failed(err error) sim.Kind { return failed{err} }

type failed struct{ err error }

// Build implements [sim.Kind].
func (f failed) Build(b *sim.Builder) { b.Fail(f.err) }

// Note is [Server.Op] of that server, if there is one. Any goroutine may call it.
func Note(op trace.Decision) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.Op(op)
	}
}
