// Package mariadb is a real MariaDB as a server of a simulated world: unmodified drivers speak to it over the links of
// the world, and its time is the world's.
//
//	db, err := mariadb.Start(ctx)   // outside the world: it takes about two seconds
//	…
//	defer db.Stop()
//	sim.Run(sim.Config{Servers: []sim.Kind{db}, Clients: 2}, func(w *sim.World) error { … })
//
// A Server serves one world after another; a world begins with an empty database. It needs Linux, MariaDB and a C
// compiler: [locksim/internal/mariadbserver] has the errors that say which is missing.
//
// # How it works
//
// The server runs outside the world, and in lockstep with it. A library is preloaded into it, which has its clocks
// and its waits: for a condition, for a message of a client, for a time. One of its threads runs at a time. When that
// waits, the world gives the turn to the one that has been ready longest, and when none is ready all have done what
// they can: virtual time stands still until then. So those who wait for a lock go on in the order in which the server
// lets them, and one alone at a time.
//
// Its clocks are those of its machine in the world, and stand still between events. The waits of a session end at the
// instant at which they are due: innodb_lock_wait_timeout, wait_timeout, the timeout of GET_LOCK, max_statement_time
// and SLEEP are the code of MariaDB, in virtual time. What the server does by itself, such as to purge old rows, it
// does before the next message of a client.
//
// A crash kills the server. A restart lets it recover, in no virtual time. A session whose client has gone while it
// waits for the lock of a row stays in the queue, as in MariaDB: that does not look at its connection meanwhile. In
// GET_LOCK it looks once a second.
//
// # What differs between equal runs, and is hidden
//
// The ids of connections and the bytes for passwords in the greeting, and the attributes with which a client logs in.
//
// # What it does not have
//
// TLS and passwords; replication; the values of RAND, UUID and CONNECTION_ID are not of the seed: a client must not
// send them. Users, global variables and other databases than locksim stay from one world to the next.
package mariadb
