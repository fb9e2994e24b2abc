// Package proxytest runs the toxics of package faults in a Toxiproxy, over TCP
// on this machine. What they do in a simulated network they do in a real one:
// the tests here look at what arrives at the other end, in which order, and how
// it ends, and never at how long it took.
//
// It is a module of its own, since a whole Toxiproxy brings an HTTP server and
// metrics along, which nobody needs who uses locksim.
package proxytest
