package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"locksim/lock"
)

// nodes starts five nodes.
func nodes() (clients []lock.Redis, stopAll func()) {
	var stops []func()
	for range 5 {
		client, stop := node()
		clients, stops = append(clients, client), append(stops, stop)
	}
	return clients, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func ExampleRedlock() {
	clients, stop := nodes()
	defer stop()
	locks, err := lock.NewRedlock(clients, lock.RedlockOptions{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("token:", lease.Token())

	_, err = locks.TryAcquire(ctx, "order:42") // by another client
	fmt.Println(err)
	var nodes lock.NodeErrors
	fmt.Println(errors.Is(err, lock.ErrTaken), errors.As(err, &nodes), len(nodes))
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// token: 0
	// try to acquire order:42: lock taken: 0 of 5 nodes granted it, 3 are needed: r0: taken; r1: taken; r2: taken; r3: taken; r4: taken
	// true true 5
	// released: true
}

// A watchdog renews a majority of the nodes.
func ExampleRedlock_watchdog() {
	clients, stop := nodes()
	defer stop()
	redlock, err := lock.NewRedlock(clients, lock.RedlockOptions{})
	if err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewWatchdog(redlock, lock.WatchdogOptions{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", lease.Context().Err() == nil)
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// held: true
	// released: true
}

func ExampleRedlockFenced() {
	clients, stop := nodes()
	defer stop()
	locks, err := lock.NewRedlockFenced(clients, lock.RedlockOptions{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	for range 3 {
		lease, err := locks.Acquire(ctx, "order:42")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(lease.Token())
		if err := lease.Release(ctx); err != nil {
			log.Fatal(err)
		}
	}
	// As long as no node loses its counter. Output: 1 2 3
}
