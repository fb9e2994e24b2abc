package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/internal/pgserver"
)

func missingPostgres() error {
	if err := pgserver.Missing(); err != nil && !errors.Is(err, pgserver.ErrNoCompiler) {
		return err
	}
	return nil
}

func (g *Group) startPostgres(ctx context.Context) error {
	at, err := addresses(1)
	if err != nil {
		return err
	}
	s, err := g.add("p0", at[0])
	if err != nil {
		return err
	}
	settings := []string{"max_connections=200"}
	if g.options.Sync {
		settings = append(settings, "fsync=on")
	}
	s.engine = &postgres{options: pgserver.Options{
		Dir: s.dir, Address: s.addr, Env: s.clock.env(trueMonotonic), Settings: settings,
	}}
	return s.Restart(ctx)
}

// postgres is the processes of a PostgreSQL: the first and one for each connection, in sessions of their own.
type postgres struct {
	options pgserver.Options
	real    *pgserver.Server // nil before the first start
}

func (p *postgres) start(ctx context.Context) (err error) {
	if p.real == nil {
		p.real, err = pgserver.Start(ctx, p.options)
	} else if err = p.real.Run(); err == nil {
		err = p.real.Wait(ctx)
	}
	if errors.Is(err, pgserver.ErrExited) {
		err = fmt.Errorf("%w: %w", errExited, err)
	}
	return err
}

func (p *postgres) kill() error {
	if p.real == nil {
		return nil
	}
	return p.real.Crash()
}

func (p *postgres) output() string {
	text, _ := os.ReadFile(filepath.Join(p.options.Dir, "log"))
	return string(text[max(0, len(text)-enough):])
}

// Source names the database of a PostgreSQL for a driver: a connection string, without a password. The address in it
// may be replaced by that of a proxy. It is empty for other kinds.
func (s *Server) Source() string {
	if p, ok := s.engine.(*postgres); ok && p.real != nil {
		return p.real.Source()
	}
	return ""
}
