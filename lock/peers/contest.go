package main

import (
	"context"
	"fmt"
	"time"
)

// contest is contenders that do the same, in turns.
type contest struct {
	title  string
	about  string
	rounds int
	teams  []contender // the first is the one that the others are compared with
}

// contender is a lock in a contest.
type contender struct {
	name string
	peer string // "" for a lock of ours

	// turn does what the contest is about and returns how long one piece of it took.
	turn func(ctx context.Context) (time.Duration, error)
}

// hold lets everybody have a turn in every round, and returns the times by contender and round. Who begins
// changes from round to round, so that nobody always profits from what another has warmed up. The first
// round is for warming up, and does not count.
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

// repeat makes a turn of n pieces of work out of one. The time is the mean.
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
