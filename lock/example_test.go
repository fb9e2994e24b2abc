package lock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/fence"
)

// node starts an in-process Redis for the examples, and returns a client with the options of the package documentation.
func node() (client *redis.Client, stop func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	client = redis.NewClient(&redis.Options{
		Addr:                  server.Addr(),
		MaxRetries:            -1,
		DialerRetries:         1,
		ContextTimeoutEnabled: true,
	})
	return client, func() { _ = client.Close(); server.Close() }
}

func ExampleSingle() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewSingle(client, lock.Options{TTL: 30 * time.Second})
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // how long to wait for it
	defer cancel()
	lease, err := locks.Acquire(ctx, "report:2024")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", lease.Context().Err() == nil)
	fmt.Println("released:", lease.Release(ctx) == nil)
	fmt.Println("after it:", context.Cause(lease.Context()))
	// Output:
	// held: true
	// released: true
	// after it: context canceled
}

func ExampleFenced() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewFenced(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	var order fence.State // the state of the protected resource
	var tokens []uint64
	for range 2 {
		lease, err := locks.Acquire(ctx, "order:42")
		if err != nil {
			log.Fatal(err)
		}
		tokens = append(tokens, lease.Token())
		if order, err = fence.Seal.Write(order, fence.Op{Token: lease.Token()}); err != nil {
			log.Fatal(err)
		}
		if err := lease.Release(ctx); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("tokens:", tokens)
	_, err = fence.Seal.Write(order, fence.Op{Token: tokens[0]}) // the first holder writes again, too late
	fmt.Println(err)
	// Output:
	// tokens: [1 2]
	// write with token 1 refused, token 2 was seen: stale operation
}
