// Package exposed is no part of River: it lets a program outside of the module run its elector, as the client of River
// does.
package exposed

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/riverqueue/river/internal/leadership"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivershared/baseservice"
)

// Elect runs an elector until ctx ends, in the mode that polls. It calls changed with what the elector tells its
// subscribers.
func Elect(ctx context.Context, pool *pgxpool.Pool, name, id string, changed func(leads bool)) error {
	elector := leadership.NewElector(baseservice.NewArchetype(slog.New(slog.DiscardHandler)),
		riverpgxv5.New(pool).GetExecutor(), nil,
		&leadership.Config{ClientID: id, Schema: schemaOf(name)})
	told := elector.Listen()
	over := make(chan struct{})
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			select {
			case n := <-told.C():
				changed(n.IsLeader)
			case <-over:
				return
			}
		}
	}()
	if err := elector.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	elector.Stop()
	close(over)
	<-heard
	told.Unlisten()
	return nil
}

// schemas is how many elections there are: a schema has one.
const schemas = 8

// schemaOf is the schema with the election of a name.
func schemaOf(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("river%d", h.Sum32()%schemas)
}

// Tables are the statements that make the table of each election, as the migrations of River make it.
func Tables() (all []string) {
	for i := range schemas {
		all = append(all, fmt.Sprintf("CREATE SCHEMA river%d", i), fmt.Sprintf(`CREATE UNLOGGED TABLE river%d.river_leader (
			elected_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, leader_id text NOT NULL,
			name text PRIMARY KEY DEFAULT 'default' CHECK (name = 'default'),
			CONSTRAINT name_length CHECK (name = 'default'),
			CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128))`, i))
	}
	return all
}
