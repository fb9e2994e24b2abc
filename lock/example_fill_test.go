package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// Visitors that find no page in the cache at the same time render it once.
func ExampleFill() {
	client, stop := node()
	defer stop()
	locks, err := lock.NewFenced(client, lock.Options{})
	if err != nil {
		log.Fatal(err)
	}

	look := func(ctx context.Context) (string, bool, error) {
		page, err := client.Get(ctx, "page:42").Result()
		if errors.Is(err, redis.Nil) {
			return "", false, nil
		}
		return page, err == nil, err
	}
	render := func(ctx context.Context, _ lock.Lease) (string, error) {
		fmt.Println("rendered")
		return "<h1>42</h1>", client.Set(ctx, "page:42", "<h1>42</h1>", 0).Err()
	}
	ctx := context.Background()
	var visitors sync.WaitGroup
	for range 3 {
		visitors.Go(func() {
			page, err := lock.Fill(ctx, locks, "page:42", look, render)
			if err != nil || page == "" {
				log.Fatal(err)
			}
		})
	}
	visitors.Wait()
	// Output:
	// rendered
}
