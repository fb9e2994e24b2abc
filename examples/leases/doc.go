// Package leases is the overview of a module of leases: the locks of services whose clients are heavy, each in a folder
// with its server for the simulated world, its locks under test, its scenarios and the locks that use it wrongly. The
// command in cmd has all of them. No program outside of this module compiles any of these clients.
package leases
