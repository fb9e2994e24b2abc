package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/internal/mariadbserver"
)

func missingMariaDB() error {
	if err := mariadbserver.Missing(); err != nil && !errors.Is(err, mariadbserver.ErrNoCompiler) {
		return err
	}
	return nil
}

func (g *Group) startMariaDB(ctx context.Context) error {
	at, err := addresses(1)
	if err != nil {
		return err
	}
	s, err := g.add("m0", at[0])
	if err != nil {
		return err
	}
	// its waits for a condition go by the wall clock: they have to be waits by the clock that it has
	s.engine = &mariadb{options: mariadbserver.Options{
		Dir: s.dir, Address: s.addr, Env: s.clock.env(pretendMonotonic), Sync: g.options.Sync,
		Settings: []string{"max-connections=200", "skip-name-resolve"},
	}}
	return s.Restart(ctx)
}

// mariadb is the process of a MariaDB.
type mariadb struct {
	options mariadbserver.Options
	real    *mariadbserver.Server // nil before the first start
}

func (m *mariadb) start(ctx context.Context) (err error) {
	if m.real == nil {
		m.real, err = mariadbserver.Start(ctx, m.options)
	} else if err = m.real.Run(); err == nil {
		err = m.real.Wait(ctx)
	}
	if errors.Is(err, mariadbserver.ErrExited) {
		err = fmt.Errorf("%w: %w", errExited, err)
	}
	return err
}

func (m *mariadb) kill() error {
	if m.real == nil {
		return nil
	}
	return m.real.Crash()
}

func (m *mariadb) output() string {
	text, _ := os.ReadFile(filepath.Join(m.options.Dir, "log"))
	return string(text[max(0, len(text)-enough):])
}
