package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"locksim/lock"
)

// A waiter is notified of the release at once, instead of polling.
func ExampleWaiting() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewSingle(client, lock.Options{Waiting: lock.WaitNotify})
	if err != nil {
		log.Fatal(err)
	}

	holder, err := locks.Acquire(context.Background(), "order:42")
	if err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = holder.Release(context.Background()) })

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // how long to wait for it
	defer cancel()
	lease, err := locks.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// released: true
}

// A scheduled task that needs to run only on one machine does not wait for the others.
func ExampleTrier() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewFenced(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	for range 2 {
		_, err := locks.TryAcquire(context.Background(), "report:2024")
		switch {
		case errors.Is(err, lock.ErrTaken):
			fmt.Println("another machine runs it")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("this machine runs it")
		}
	}
	// Output:
	// this machine runs it
	// another machine runs it
}
