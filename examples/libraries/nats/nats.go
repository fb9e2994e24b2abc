// Command nats has a lock in a bucket of NATS JetStream, as the documentation of the bucket says that one is made.
package main

import (
	"locksim/examples/leases/natskv"
	"locksim/examples/libraries"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "nats", Module: "github.com/nats-io/nats.go", Source: "https://github.com/nats-io/nats.go",
		Locks: []libraries.Lock{{
			Is:   "a lease by a key in a bucket of NATS JetStream that ends, which its holder counts by its own clock.",
			Lock: natskv.KV(),
			Options: "Create with a TTL takes a key, a message with the last revision prolongs it, Delete with the last " +
				"revision gives it back: there is no lock in the library. One nats-server, which runs in the world.",
			Says: []libraries.Sentence{{
				Text: "Create will add the key/value pair if it does not exist. If the key already exists, ErrKeyExists will be " +
					"returned. […] Update will update the value if the latest revision matches.",
				Where: "doc comments of jetstream.KeyValue", File: "jetstream/kv.go",
			}},
			Fence:    "The revision of the grant: a number of the stream, which only grows.",
			Untested: "Several servers. A loss of power is played in examples/leases, with nats-kv-file and nats-kv-sync.",
		}},
	})
}
