package play

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"locksim/faults"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// ErrStays is returned when a scenario has a failover, and the lock dials the first Redis server by its own name, which
// no failover moves: a run could not say what the failover does to it.
var ErrStays = errors.New("the lock stays with one Redis server by its name")

// asked are the names of the servers for which the lock of a run has asked. It is safe for concurrent use.
type asked struct {
	mu    sync.Mutex
	names map[string]bool
}

func (a *asked) note(server string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names == nil {
		a.names = map[string]bool{}
	}
	a.names[server] = true
}

// stays is the server that is a primary at the start and for which the lock has asked by its own name, and neither for
// the name of the present primary nor for a replica. It is empty if there is none.
func (a *asked) stays(servers trace.Servers) (first string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range servers {
		switch {
		case !a.names[s.Name]:
		case s.Role == trace.RoleReplica:
			return ""
		case s.Role == trace.RolePrimary:
			first = s.Name
		}
	}
	if a.names[subject.Primary] {
		return ""
	}
	return first
}

// Address is that of the machine. The name is noted.
func (e env) Address(server string) string {
	e.asked.note(server)
	return e.Machine.Address(server)
}

// Dial is that of the machine. A name is noted.
func (e env) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		e.asked.note(host)
	} else {
		e.asked.note(addr)
	}
	return e.Machine.Dial(ctx, network, addr)
}

// unmoved is the error of a run in which the primary was replaced, for a lock that cannot feel it.
func (p *play) unmoved() error {
	for i, f := range p.sc.Faults {
		if _, ok := f.Action.(faults.Failover); !ok || !p.schedule.fired[i] {
			continue
		}
		first := p.asked.stays(p.world.Trace().Servers)
		if first == "" {
			continue
		}
		err := p.sc.ErrorAt(p.sc.Pos(fmt.Sprintf("faults[%d]", i)),
			"lock %s dials %s by its own name, which no failover moves: let it dial %q, which is scenarios.Primary and leads "+
				"to the server that takes over, or leave failovers out",
			p.lock.Name, first, subject.Primary)
		err.Err = ErrStays
		return err
	}
	return nil
}
