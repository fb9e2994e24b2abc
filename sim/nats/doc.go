// Package nats has nats-server itself as a server of a simulated world, in lockstep with it: one, with JetStream and a
// bucket of key values. The same module is the server of a live run: see [Storage.Command].
//
// It is a module of its own, since nats-server and its client are: whoever imports nothing of it has neither in the
// go.mod.
package nats
