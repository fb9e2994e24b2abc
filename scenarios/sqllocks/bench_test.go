package sqllocks_test

import (
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
	"locksim/sim"
	"locksim/sim/postgres"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// BenchmarkRoundTrip is a statement of pgx by database/sql, beside a SET of go-redis.
func BenchmarkRoundTrip(b *testing.B) {
	b.Run("PostgreSQL", func(b *testing.B) {
		testruns.NeedsPostgres(b)
		server, err := postgres.Shared()
		if err != nil {
			b.Fatal(err)
		}
		testruns.BenchCalls(b, server, func(p *sim.Process) func() error {
			db, err := sqllocks.Open(p)
			if err != nil {
				b.Fatal(err)
			}
			return func() error {
				_, err := db.ExecContext(p.Context(), "SELECT 1")
				return err
			}
		})
	})
	b.Run("Redis", func(b *testing.B) {
		testruns.BenchCalls(b, redis.Servers{Nodes: 1}, func(p *sim.Process) func() error {
			c := redisclient.New(p, "r0")
			return func() error { return c.Set(p.Context(), "k", "v", 0).Err() }
		})
	})
}

// BenchmarkRun is complete runs of one mode: a pause beyond the lease, on PostgreSQL and on Redis.
func BenchmarkRun(b *testing.B) {
	testruns.NeedsPostgres(b)
	fenced, err := scenarios.Kind("fenced")
	if err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]scenarios.Lock{"sql-for-update-pause": sqllocks.Table(), "gc-pause": fenced} {
		sc, err := scenarios.Load(name, l)
		if err != nil {
			b.Fatal(err)
		}
		testruns.BenchRuns(b, testruns.Pair{Scenario: sc, Lock: l})
	}
}
