package redisguard_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
)

func Example() {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer func() { _ = client.Close() }()
	guard, err := redisguard.New(client, fence.Seal)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	first, next := fence.Op{Token: 33}, fence.Op{Token: 34} // lease.Token() of two grants
	if _, err := guard.Read(ctx, "order:42", "balance", first); err != nil {
		log.Fatal(err)
	}
	// The first holder is paused here until its lease has ended, and the next one is granted the lock.
	if _, err := guard.Read(ctx, "order:42", "balance", next); err != nil {
		log.Fatal(err)
	}
	err = guard.Write(ctx, "order:42", "balance", "10", first)
	fmt.Println(err)
	fmt.Println("stale:", errors.Is(err, fence.ErrStale))
	fmt.Println(guard.Write(ctx, "order:42", "balance", "20", next))
	// Output:
	// write field balance of order:42: write with token 33 refused, token 34 was seen: stale operation
	// stale: true
	// <nil>
}

// Compare and set needs no lock: a client that is too late reads again.
func ExampleGuard_Write_compareAndSet() {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer func() { _ = client.Close() }()
	guard, err := redisguard.New(client, fence.CAS)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	server.HSet("order:42", "balance", "10")
	found, err := guard.Read(ctx, "order:42", "balance", fence.Op{})
	fmt.Println(found.Text, err)
	op := fence.Op{Version: found.Version}
	fmt.Println(guard.Write(ctx, "order:42", "balance", found.Text+"1", op))
	fmt.Println(guard.Write(ctx, "order:42", "balance", found.Text+"2", op))
	// Output:
	// 10 <nil>
	// <nil>
	// write field balance of order:42: write based on version 0 refused, version 1 is there: stale operation
}
