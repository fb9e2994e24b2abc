// Package leases is the overview of a module of leases: the locks of services whose clients are heavy, each in a folder
// with its locks under test, its scenarios and the locks that use it wrongly. Their servers are in locksim/sim/kube,
// locksim/sim/consul and locksim/sim/nats. The command in cmd has all of the locks. No program outside of this module
// compiles any of these clients.
package leases
