package sqllocks

import (
	"context"
	"database/sql"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/faults"
	"locksim/scenarios/internal/sqldata"
	"locksim/scenarios/sqllocks/facts"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/postgres"
)

// Stop ends the server of this process, if it has one. No world may use it. The next world starts another.
func Stop() error { return postgres.StopShared() }

// Kind is the kind of server: PostgreSQL, with the tables of the locks and of the data. There is one, p0.
func Kind() subject.ServerKind { return kind(false) }

// kind is that, behind a pooling proxy or not.
func kind(pooled bool) subject.ServerKind {
	k := subject.ServerKind{Facts: facts.Server.Facts, Missing: postgres.Missing, Stop: Stop}
	k.Prepare = func(ctx context.Context, address string) error {
		if pooled {
			return fmt.Errorf("%w: no pooling proxy runs in front of a real server", faults.ErrUnable)
		}
		return prepare(ctx, address)
	}
	k.Make = func(count int) sim.Kind {
		if count != 1 {
			return postgres.Failed(fmt.Errorf("the world has %d PostgreSQL servers: there can be one", count))
		}
		tables, err := schema()
		if err != nil {
			return postgres.Failed(err)
		}
		server, err := postgres.Shared()
		if err != nil {
			return postgres.Failed(err)
		}
		return postgres.Kind{Server: server, Schema: tables, Value: database.Value, Leases: leases(), Pooled: pooled}
	}
	return k
}

// prepare makes the tables of the locks on a real server.
func prepare(ctx context.Context, address string) error {
	tables, err := schema()
	if err != nil {
		return err
	}
	return execute(ctx, address, tables)
}

func execute(ctx context.Context, address string, statements []string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	c, err := pgx.Connect(ctx, fmt.Sprintf("host=%s port=%s user=locksim dbname=postgres sslmode=disable", host, port))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("make the tables of the locks: %w", err)
		}
	}
	return nil
}

// Servers are those of a lock on PostgreSQL.
func Servers() []subject.Servers { return []subject.Servers{{Kind: Kind(), Count: 1}} }

// With is one PostgreSQL in which statements have been executed before a run, also before a live one: what the clients
// of a library would otherwise make at the same time.
func With(statements ...string) []subject.Servers {
	k := Kind()
	inner := k.Make
	k.Make = func(count int) sim.Kind {
		made := inner(count)
		if p, ok := made.(postgres.Kind); ok {
			p.Schema = append(p.Schema, statements...)
			return p
		}
		return made
	}
	before := k.Prepare
	k.Prepare = func(ctx context.Context, address string) error {
		if err := before(ctx, address); err != nil {
			return err
		}
		return execute(ctx, address, statements)
	}
	return []subject.Servers{{Kind: k, Count: 1}}
}

// connections is how many connections the pool of a client has at most.
const connections = 4

// Open is the database for a client: a pool of four connections of pgx over the links of the world, which does not ask
// whether a connection is alive before it uses it. Faults can exhaust it. It is closed at the end of the run.
func Open(m Machine) (*sql.DB, error) { return open(m, pgx.QueryExecModeCacheStatement) }

// Machine is where a client runs: a [subject.Env], or a [*sim.Process].
type Machine interface {
	Address(server string) string
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	OnEnd(f func())
}

// Source is the data source name of the database, for a driver or a pool that reads one. What it dials is set by
// [Configure].
const Source = "host=" + postgres.Name + " user=locksim dbname=postgres sslmode=disable"

// Configure lets a client of pgx that opens its own connections, such as a pgxpool, reach the database. The
// configuration is that of [Source].
func Configure(m Machine, cfg *pgx.ConnConfig) {
	cfg.LookupFunc = func(context.Context, string) ([]string, error) { return []string{postgres.Name}, nil }
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		c, err := m.Dial(ctx, network, m.Address(postgres.Name))
		if err != nil {
			return nil, err
		}
		return &goodbye{Conn: c}, nil
	}
}

// open is the database for a client whose driver sends statements in one mode.
func open(m Machine, mode pgx.QueryExecMode) (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(Source)
	if err != nil {
		return nil, err
	}
	cfg.DefaultQueryExecMode = mode
	Configure(m, cfg)
	db := stdlib.OpenDB(*cfg,
		stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false }))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	m.OnEnd(func() { _ = db.Close() })
	if a, ok := m.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(&sqldata.Pool{DB: db, Connections: connections})
	}
	return db, nil
}
