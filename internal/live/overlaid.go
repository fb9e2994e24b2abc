//go:build linux

package live

import (
	"context"
	"net"
	"strings"
	_ "unsafe" // for go:linkname
)

// everyDial is the place of the build overlay that each dial of package net comes by: see Overlaid of package sim.
// Without the overlay nothing reads it.
//
//go:linkname everyDial net.locksimDial
var everyDial func(ctx context.Context, network, address string) (c net.Conn, ok bool, err error)

// dialEverywhere makes a lock that dials by itself dial as the environment does, in a program that was built with the
// overlay: what the network of its client does then strikes it too. The process is that of one client, so that every
// goroutine is its.
func dialEverywhere(dial func(ctx context.Context, network, addr string) (net.Conn, error)) {
	everyDial = func(ctx context.Context, network, address string) (net.Conn, bool, error) {
		if ctx.Value(direct{}) != nil || !strings.HasPrefix(network, "tcp") {
			return nil, false, nil
		}
		c, err := dial(ctx, network, address)
		return c, true, err
	}
}
