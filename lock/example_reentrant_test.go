package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"locksim/lock"
)

func ExampleReentrant() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewReentrant(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	job := locks.As("job:7") // one task, in all functions that it calls
	outer, err := job.Acquire(ctx, "order:42")
	if err != nil {
		log.Fatal(err)
	}
	inner, err := job.Acquire(ctx, "order:42") // in a function whose caller may hold it
	if err != nil {
		log.Fatal(err)
	}
	for _, lease := range []lock.Lease{inner, outer} {
		_, err = locks.TryAcquire(ctx, "order:42") // another client
		fmt.Println("taken:", errors.Is(err, lock.ErrTaken))
		if err := lease.Release(ctx); err != nil {
			log.Fatal(err)
		}
	}
	_, err = locks.TryAcquire(ctx, "order:42")
	fmt.Println("free:", err == nil)
	// Output:
	// taken: true
	// taken: true
	// free: true
}

func ExampleReentrantFenced() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewReentrantFenced(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	for range 2 {
		job := locks.As("job:7")
		outer, err := job.Acquire(ctx, "order:42")
		if err != nil {
			log.Fatal(err)
		}
		inner, err := job.Acquire(ctx, "order:42")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("tokens:", outer.Token(), inner.Token())
		if err := errors.Join(inner.Release(ctx), outer.Release(ctx)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// tokens: 1 1
	// tokens: 2 2
}
