//go:build !linux

package pgserver

import (
	"context"
	"time"
)

// Server is a PostgreSQL, of which there is none here.
type Server struct{}

// Missing returns [ErrMissing].
func Missing() error { return ErrMissing }

// Start returns [ErrMissing].
func Start(context.Context, Options) (*Server, error) { return nil, ErrMissing }

// Stop does nothing.
func (*Server) Stop() error { return nil }

// Source is empty.
func (*Server) Source() string { return "" }

// Dir is empty.
func (*Server) Dir() string { return "" }

// Run returns [ErrMissing].
func (*Server) Run() error { return ErrMissing }

// Wait returns [ErrMissing].
func (*Server) Wait(context.Context) error { return ErrMissing }

// Crash returns [ErrMissing].
func (*Server) Crash() error { return ErrMissing }

// SetTime returns [ErrMissing].
func (*Server) SetTime(time.Time) error { return ErrMissing }

// Timers returns [ErrMissing].
func (*Server) Timers() ([]Timer, error) { return nil, ErrMissing }

// Fire returns [ErrMissing].
func (*Server) Fire(Timer) error { return ErrMissing }
