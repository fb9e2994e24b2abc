// Package dbworld has what real database servers share when they are servers of a simulated world: sockets that Go does
// not know of, and what the world is told of who has which lock.
package dbworld
