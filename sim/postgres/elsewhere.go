//go:build !linux

package postgres

import (
	"context"

	"locksim/internal/pgserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// Name is the name of the server in a world.
const Name = "p0"

// Server is a PostgreSQL, of which there is none here.
type Server struct{}

// Op does nothing.
func (*Server) Op(trace.Decision) {}

// Kind is the server with a database that is not empty.
type Kind struct {
	Server *Server
	Schema []string
	Value  func(resource, register string) string
	Leases []LeaseTable
	Pooled bool
}

// Build implements [sim.Kind], for a world without the server.
func (Kind) Build(*sim.Builder) {}

// Start returns [pgserver.ErrMissing].
func Start(context.Context) (*Server, error) { return nil, pgserver.ErrMissing }

// Stop does nothing.
func (*Server) Stop() error { return nil }

// Build implements [sim.Kind], for a world without the server.
func (*Server) Build(*sim.Builder) {}
