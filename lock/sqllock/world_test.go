package sqllock_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/lock"
	"locksim/lock/locktest"
	"locksim/lock/sqllock"
	"locksim/sim"
	"locksim/sim/postgres"
)

// inWorld is a database for a process of a world, through a wire if that is not nil.
func inWorld(t testing.TB, p *sim.Process, wire *locktest.Wire) *sql.DB {
	t.Helper()
	cfg, err := pgx.ParseConfig("host=p0 user=locksim dbname=postgres sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	dial := p.Dial
	if wire != nil {
		dial = wire.Dial
	}
	cfg.LookupFunc = func(context.Context, string) ([]string, error) { return []string{postgres.Name}, nil }
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, p.Address(postgres.Name))
	}
	db := stdlib.OpenDB(*cfg, noPing)
	p.OnEnd(func() { _ = db.Close() })
	return db
}

// Each kind keeps the same promises in the world, on the same PostgreSQL in virtual time.
func TestConformanceInTheWorld(t *testing.T) {
	server := simulated(t)
	for _, v := range variants() {
		if !v.isTable() && !v.blocks && os.Getenv("LOCKSIM_SOAK") != "1" {
			continue // they poll on the free server in make soak and .ci/run, and in the scenarios
		}
		t.Run(v.name, func(t *testing.T) {
			const ttl = 10 * time.Second
			h := locktest.Harness{TTL: ttl, Slack: 3 * time.Second, Tokens: v.tokens, Renews: v.renews, Connected: !v.isTable()}
			h.Fresh = func(t testing.TB, test func(locktest.World)) {
				t.Helper()
				_, err := sim.Run(sim.Config{Seed: 1, Servers: []sim.Kind{server}, Clients: 4, Untraced: true},
					func(w *sim.World) error {
						admin := w.NewProcess("admin")
						admin.Go(func() {
							db := inWorld(t, admin, nil)
							options := func(p *sim.Process) sqllock.Options {
								o := v.options(ttl)
								// a try is a round trip to the real server
								o.Backoff = lock.Backoff{Min: 100 * time.Millisecond, Max: 300 * time.Millisecond}
								o.Clock, o.Jitter, o.Entropy = p.Clock(), p.Source("lock"), p.Entropy("lock")
								return o
							}
							world := v.world(t, db, options(admin))
							world.New = func(t testing.TB, i int) locktest.Client {
								t.Helper()
								p := w.Client(i)
								wire := locktest.NewWire(p.Dial)
								return locktest.Client{Locker: v.locker(t, inWorld(t, p, wire), options(p)), Wire: wire}
							}
							test(world)
						})
						return w.RunUntil(w.Idle)
					})
				if err != nil {
					t.Error(err)
				}
			}
			locktest.Run(t, h)
		})
	}
}
