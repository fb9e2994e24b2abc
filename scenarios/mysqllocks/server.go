package mysqllocks

import (
	"context"
	"database/sql"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"locksim/faults"
	"locksim/scenarios/internal/sqldata"
	"locksim/scenarios/mysqllocks/facts"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/mariadb"
)

// Stop ends the server of this process, if it has one. No world may use it. The next world starts another.
func Stop() error { return mariadb.StopShared() }

// Kind is the kind of server: MariaDB, with the tables of the locks and of the data. There is one, m0.
func Kind() subject.ServerKind { return with() }

func with(statements ...string) subject.ServerKind {
	k := subject.ServerKind{Facts: facts.Server.Facts, Missing: mariadb.Missing, Stop: Stop}
	k.Prepare = func(ctx context.Context, address string) error {
		tables, err := schema()
		if err != nil {
			return err
		}
		return execute(ctx, address, append(tables, statements...))
	}
	k.Make = func(count int) sim.Kind {
		if count != 1 {
			return mariadb.Failed(fmt.Errorf("the world has %d MariaDB servers: there can be one", count))
		}
		tables, err := schema()
		if err != nil {
			return mariadb.Failed(err)
		}
		server, err := mariadb.Shared()
		if err != nil {
			return mariadb.Failed(err)
		}
		return mariadb.Kind{Server: server, Schema: append(tables, statements...), Value: database.Value, Leases: leases()}
	}
	return k
}

// execute makes a real server ready for the locks.
func execute(ctx context.Context, address string, statements []string) error {
	cfg := config()
	cfg.Addr = address
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the tables of the locks: %w", err)
		}
	}
	return nil
}

// Servers are those of a lock on MariaDB.
func Servers() []subject.Servers { return []subject.Servers{{Kind: Kind(), Count: 1}} }

// With is one MariaDB in which statements have been executed before a run, also before a live one: what the clients
// of a library would otherwise make at the same time.
func With(statements ...string) []subject.Servers {
	return []subject.Servers{{Kind: with(statements...), Count: 1}}
}

// connections is how many connections the pool of a client has at most.
const connections = 4

// Machine is where a client runs: a [subject.Env], or a [*sim.Process].
type Machine interface {
	Address(server string) string
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	OnEnd(f func())
}

// Source is the data source name of the database, for a driver that reads one. What it dials is set by [Configure].
const Source = "locksim@tcp(" + mariadb.Name + ":3306)/locksim?interpolateParams=true&checkConnLiveness=false"

// config is the configuration of Source. Arguments become part of the text of a statement, so that each is sent at
// once, and a connection is used without a look at its socket first, which is none of the machine.
func config() *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "locksim", "tcp", mariadb.Name+":3306", "locksim"
	cfg.InterpolateParams, cfg.CheckConnLiveness = true, false
	cfg.Logger = &mysql.NopLogger{}
	return cfg
}

// Configure lets a client reach the database by a configuration of its own, such as that of [Source].
func Configure(m Machine, cfg *mysql.Config) {
	cfg.Logger = &mysql.NopLogger{}
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return m.Dial(ctx, network, m.Address(mariadb.Name))
	}
}

// Open is the database for a client: a pool of four connections over the links of the world. Faults can exhaust it. It
// is closed at the end of the run.
func Open(m Machine) (*sql.DB, error) { return OpenConfig(m, config()) }

// OpenConfig is [Open] with a configuration of the driver.
func OpenConfig(m Machine, cfg *mysql.Config) (*sql.DB, error) {
	Configure(m, cfg)
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	m.OnEnd(func() { _ = db.Close() })
	if a, ok := m.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(&sqldata.Pool{DB: db, Connections: connections})
	}
	return db, nil
}
