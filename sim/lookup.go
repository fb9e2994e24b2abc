package sim

import (
	"context"
	"errors"
	"net"
	"sync"
)

// errLookup is the error of a name look-up in a run.
var errLookup = errors.New("no name is looked up in a world: dial a server by its name or address there, with the " +
	"dialer of its process")

// refuseLookups makes look-ups of names fail in runs, and leaves them to Go's own resolver elsewhere. The answer of a
// real DNS would be a fact of the machine, and virtual time would stand still until it comes. Go's resolver has
// channels of the whole program, which must not be made in a bubble: the next run would end the program. A first
// look-up makes them.
var refuseLookups = sync.OnceFunc(func() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, addr string) (net.Conn,
		error) {
		if thisBubble() != "" || ctx.Value(warming{}) != nil {
			return nil, errLookup
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	_, _ = net.DefaultResolver.LookupHost(context.WithValue(context.Background(), warming{}, true), "locksim.invalid")
})

// warming is the key of a context value that marks the first look-up, which asks no server.
type warming struct{}
