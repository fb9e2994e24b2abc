// Command canary runs a world outside go test, as the locksim command does,
// and prints the trace's hash.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

func main() {
	for range 2 {
		res, err := sim.Run(sim.Config{Seed: 7, Clients: 2, Servers: []sim.Kind{redis.Servers{}}}, body)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		fmt.Println(res.Trace.Hash(), res.Virtual > time.Minute)
	}
	_, err := sim.Run(sim.Config{}, func(*sim.World) error { go func() { <-make(chan int) }(); return nil })
	var leak *sim.LeakError
	fmt.Println("leak:", errors.As(err, &leak))
}

func body(w *sim.World) error {
	for i := range w.Clients() {
		p := w.Client(i)
		r := redisclient.New(p, "r0")
		p.Go(func() {
			for range 3 {
				_ = r.Incr(p.Context(), "n").Err()
				time.Sleep(20 * time.Second)
			}
			_ = p.Clock().Sleep(p.Context(), time.Second)
		})
	}
	return w.RunUntil(w.Idle)
}
