package main

import (
	"context"
	"fmt"
	"time"
)

// contest is a comparison of contenders that do the same, in turns.
type contest struct {
	title  string
	about  string
	rounds int
	teams  []contender // the others are compared with the first
}

// contender is a lock in a contest.
type contender struct {
	name string
	peer string // "" for a lock of package lock

	// turn does the work of the contest and returns the time of one piece of it.
	turn func(ctx context.Context) (time.Duration, error)
}

// hold runs a turn of each contender in every round, and returns the times by contender and round. The first contender
// changes from round to round, so that none always profits from caches that another has warmed up. The first round is a
// warm-up, and does not count.
func (c contest) hold(ctx context.Context) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(c.teams))
	for round := range c.rounds + 1 {
		for place := range c.teams {
			who := (round + place) % len(c.teams)
			took, err := c.teams[who].turn(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", c.teams[who].name, round, err)
			}
			if round > 0 {
				times[who] = append(times[who], took)
			}
		}
	}
	return times, nil
}

// repeat returns a turn of n pieces of work. The time is the mean.
func repeat(n int, once func(ctx context.Context) error) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		began := time.Now()
		for range n {
			if err := once(ctx); err != nil {
				return 0, err
			}
		}
		return time.Since(began) / time.Duration(n), nil
	}
}
