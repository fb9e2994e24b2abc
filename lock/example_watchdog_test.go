package lock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"locksim/lock"
)

func ExampleWatchdog() {
	client, stop := node()
	defer stop()
	fenced, err := lock.NewFenced(client, lock.Options{TTL: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewWatchdog(fenced, lock.WatchdogOptions{MaxHold: time.Hour})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	lease, err := locks.Acquire(ctx, "report:2024")
	if err != nil {
		log.Fatal(err)
	}
	work := lease.Context()                              // it ends a second before another client can enter
	left := time.Until(lease.Until()).Round(time.Second) // which moves every three seconds
	fmt.Println(lease.Token(), left, work.Err())
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// 1 9s <nil>
	// released: true
}

func ExampleWithHolder() {
	client, stop := node()
	defer stop()
	single, err := lock.NewSingle(client, lock.Options{TTL: 300 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewWatchdog(single, lock.WatchdogOptions{})
	if err != nil {
		log.Fatal(err)
	}

	worker, die := context.WithCancel(context.Background())
	wait, cancel := context.WithTimeout(worker, 5*time.Second) // how long to wait for it
	defer cancel()
	lease, err := locks.Acquire(lock.WithHolder(wait, worker), "report:2024")
	if err != nil {
		log.Fatal(err)
	}
	die() // without a Release
	<-lease.Lost()
	fmt.Println(context.Cause(lease.Context()))
	// Output:
	// lease lost
}
