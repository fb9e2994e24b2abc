//go:build !linux

package mariadbserver

import (
	"context"
	"errors"
)

// ErrMissing is returned by all functions: MariaDB runs in a world on Linux only.
var ErrMissing = errors.New("MariaDB is missing: it runs in a world on Linux only, and all else works here")

// Database is the name of the database of the clients, and User that of the user.
const (
	Database = "locksim"
	User     = "locksim"
)

// Server is a MariaDB, of which there is none here.
type Server struct{}

// Missing returns [ErrMissing].
func Missing() error { return ErrMissing }

// Start returns [ErrMissing].
func Start(context.Context, Options) (*Server, error) { return nil, ErrMissing }

// Stop does nothing.
func (*Server) Stop() error { return nil }

// Run returns [ErrMissing].
func (*Server) Run() error { return ErrMissing }

// Wait returns [ErrMissing].
func (*Server) Wait(context.Context) error { return ErrMissing }

// Crash returns [ErrMissing].
func (*Server) Crash() error { return ErrMissing }

// Socket is "": there is none.
func (*Server) Socket() string { return "" }
