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
	"locksim/lock/fence/redisguard"
)

// The counter goes on from the highest token that the store has seen, after the node of the lock has lost it.
func ExampleRaiseToken() {
	node, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	store, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: node.Addr()})
	guard, err := redisguard.New(redis.NewClient(&redis.Options{Addr: store.Addr(), MaxRetries: -1}), fence.Seal)
	if err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewFenced(client, lock.Options{TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	// The store has seen token 41, and the node of the lock has just lost its counter.
	if err := guard.Write(ctx, "order:42", "balance", "10", fence.Op{Token: 41}); err != nil {
		log.Fatal(err)
	}

	highest, err := guard.Highest(ctx, "order:42") // of redisguard or sqlguard; 0 if it has seen none
	if err == nil {
		err = lock.RaiseToken(ctx, client, locks.TokenKey("order:42"), highest)
	}
	if err != nil {
		log.Fatal(err)
	}

	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lease.Token(), guard.Write(ctx, "order:42", "balance", "20", fence.Op{Token: lease.Token()}))
	// Output:
	// 42 <nil>
}
