package lock_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"locksim/lock"
)

func ExampleFair() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewFair(client, lock.Options{Waiting: lock.WaitNotify})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	holder, err := locks.Acquire(ctx, "printer")
	if err != nil {
		log.Fatal(err)
	}
	var all sync.WaitGroup
	for i, name := range []string{"first", "second", "third"} {
		all.Go(func() {
			lease, err := locks.Acquire(ctx, "printer")
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(name)
			_ = lease.Release(ctx)
		})
		for client.ZCard(ctx, locks.QueueKeys("printer")[0]).Val() != int64(i+1) { // until it is in the queue
		}
	}
	_ = holder.Release(ctx)
	all.Wait()
	// Output:
	// first
	// second
	// third
}

func ExampleFairFenced() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewFairFenced(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	for range 2 {
		lease, err := locks.Acquire(ctx, "printer")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("token:", lease.Token())
		_ = lease.Release(ctx)
	}
	// Output:
	// token: 1
	// token: 2
}
