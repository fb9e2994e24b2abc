//go:build !linux

package postgres

import (
	"context"

	"locksim/internal/pgserver"
	"locksim/sim"
)

// Name is the name of the server in a world.
const Name = "p0"

// Server is a PostgreSQL, of which there is none here.
type Server struct{}

// Start returns [pgserver.ErrMissing].
func Start(context.Context) (*Server, error) { return nil, pgserver.ErrMissing }

// Stop does nothing.
func (*Server) Stop() error { return nil }

// Build implements [sim.Kind], for a world without the server.
func (*Server) Build(*sim.Builder) {}
