// Package exposed is no part of River: it lets a program outside of the module run its elector, as the client of River
// does.
package exposed

import (
	"context"
	"log/slog"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/riverqueue/river/internal/baseservice"
	"github.com/riverqueue/river/internal/componentstatus"
	"github.com/riverqueue/river/internal/dbadapter"
	"github.com/riverqueue/river/internal/leadership"
	"github.com/riverqueue/river/internal/notifier"
)

// Elect runs an elector until ctx ends. It calls changed with what the elector tells its subscribers.
func Elect(ctx context.Context, pool *pgxpool.Pool, name, id string, changed func(leads bool)) error {
	logger := slog.New(slog.DiscardHandler)
	archetype := &baseservice.Archetype{Logger: logger, TimeNowUTC: func() time.Time { return time.Now().UTC() }}
	adapter := dbadapter.NewStandardAdapter(archetype, &dbadapter.StandardAdapterConfig{Executor: pool, WorkerName: id})
	notifications := notifier.New(archetype, pool.Config().ConnConfig, func(componentstatus.Status) {}, logger)

	// Later versions have one parameter more, the padding of the TTL.
	args := []any{adapter, notifications, name, id, 5 * time.Second, logger}
	build := reflect.ValueOf(leadership.NewElector)
	if build.Type().NumIn() > len(args) {
		args = []any{adapter, notifications, name, id, 5 * time.Second, 10 * time.Second, logger}
	}
	var values []reflect.Value
	for _, a := range args {
		values = append(values, reflect.ValueOf(a))
	}
	made := build.Call(values)
	if err, ok := made[1].Interface().(error); ok {
		return err
	}
	elector := made[0].Interface().(*leadership.Elector)
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
	elector.Run(ctx)
	close(over)
	<-heard
	return nil
}
