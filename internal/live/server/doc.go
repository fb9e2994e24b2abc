// Package server starts real servers for live runs: Redis or Valkey with replicas and persistence, Sentinels, a Redis
// Cluster, etcd, ZooKeeper, and PostgreSQL and MariaDB.
//
//	if err := server.Missing(server.Redis); err != nil {
//		... // says which package to install
//	}
//	g, err := server.Start(ctx, server.Options{Kind: server.Redis, Count: 1, Replicas: 1})
//	...
//	defer g.Stop()
//	r0 := g.Server("r0") // r0.Addr() is on the loopback interface
//	err = r0.Crash(faults.CrashProcess)
//	err = r0.Restart(ctx) // on the same address, with what its persistence has kept
//
// Each server works in a private folder, listens on 127.0.0.1 alone, and runs as an unprivileged user where the program
// runs as root. A guard (package guard) ends all of them however the program ends.
//
// What a kind of server cannot do returns an error that wraps [faults.ErrUnable] and says why. The servers ask for no
// password: while they run, every user of the machine can use them.
package server
