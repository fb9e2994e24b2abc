//go:build !linux

package mariadb

import (
	"context"

	"locksim/internal/dbworld"
	"locksim/internal/mariadbserver"
	"locksim/sim"
	"locksim/sim/trace"
)

// Name is the name of the server in a world.
const Name = "m0"

// LeaseTable is a table with leases.
type LeaseTable = dbworld.LeaseTable

// Comment is what a client puts before each statement of an operation.
func Comment(op string) string { return "/* op " + op + " */ " }

// Server is a MariaDB, of which there is none here.
type Server struct{}

// Op does nothing.
func (*Server) Op(trace.Decision) {}

// Kind is the server with a database that is not empty.
type Kind struct {
	Server *Server
	Schema []string
	Value  func(resource, register string) string
	Leases []LeaseTable
}

// Build implements [sim.Kind], for a world without the server.
func (Kind) Build(*sim.Builder) {}

// Start returns [mariadbserver.ErrMissing].
func Start(context.Context) (*Server, error) { return nil, mariadbserver.ErrMissing }

// Stop does nothing.
func (*Server) Stop() error { return nil }

// Build implements [sim.Kind], for a world without the server.
func (*Server) Build(*sim.Builder) {}
