// Package postgres is a real PostgreSQL as a server of a simulated world: unmodified drivers speak to it over the links
// of the world, and its time is the world's.
//
//	db, err := postgres.Start(ctx)   // outside the world: it takes about two seconds
//	…
//	defer db.Stop()
//	sim.Run(sim.Config{Servers: []sim.Kind{db}, Clients: 2}, func(w *sim.World) error { … })
//
// A Server serves one world after another; a world begins with an empty database. It needs Linux, PostgreSQL and a C
// compiler: [locksim/internal/pgserver] has the errors that say which is missing.
//
// # How it works
//
// The server's processes run outside the world, and in lockstep with it. A message of a client is handed to the real
// backend, and virtual time stands still until that has answered, or waits for a lock which another backend holds. One
// that waits is stopped, so that those who are woken go on one after another, in the order in which they asked.
//
// The wall clock of the server is that of its machine in the world, and stands still between events. Its timers are
// fired by the world, at the instant at which they are due: lock_timeout, statement_timeout, deadlock_timeout,
// idle_session_timeout and the like are the code of PostgreSQL, in virtual time.
//
// A crash kills all processes of the server. A restart lets it recover, in no virtual time.
//
// # What differs between equal runs, and is hidden
//
// Process ids and secrets in BackendKeyData, object ids of tables in descriptions of rows, the details of a deadlock,
// and the order of the parameters with which a client starts. Autovacuum, parallel workers and JIT are off.
//
// # What it does not have
//
// A standby; TLS and passwords; pg_sleep and other statements that wait for time to pass, which end the run with an
// error. Roles and other databases than "postgres" stay from one world to the next.
package postgres
