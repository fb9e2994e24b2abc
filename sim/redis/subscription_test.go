package redis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/sim"
)

// A subscription of go-redis keeps its mutex while it connects and greets, and its Close and Subscribe want it: neither
// freezes the world, whatever becomes of the link, and messages arrive.
func TestSubscriptionKeepsNoTimeFromPassing(t *testing.T) {
	for name, options := range map[string]redis.Options{
		"as it comes": {},
		"quiet":       {Protocol: 2, DisableIdentity: true},
		"named":       {ClientName: "me"},
	} {
		t.Run(name, func(t *testing.T) {
			var heard string
			cfg := served(sim.Config{Clients: 2, Latency: sim.Latency{Min: 200 * time.Millisecond, Max: 200 * time.Millisecond},
				Limits: sim.Limits{Frozen: time.Second}})
			_, err := sim.Run(cfg, func(w *sim.World) error {
				p := w.Client(0)
				options.Addr, options.Dialer = p.Address("r0"), p.Dial
				client := redis.NewClient(&options)
				p.OnEnd(func() { _ = client.Close() })
				p.Go(func() {
					sub := client.Subscribe(p.Context(), "free")
					defer func() { _ = sub.Close() }()
					heard = (<-sub.Channel()).Payload
				})
				w.At(time.Second, func() {
					p.Go(func() { must(t, client.Publish(p.Context(), "free", "it is").Err()) })
				})
				const ms = time.Millisecond
				w.At(10_000*ms, func() { must(t, w.Faults().Refuse("r0", 600*ms)) })
				w.At(10_100*ms, func() {
					p.Go(func() {
						sub := client.Subscribe(p.Context(), "free") // it is refused
						messages := sub.Channel()                    // it connects again, on a goroutine of its own
						select {
						case <-messages:
							t.Error("a message that nobody has sent")
						case <-time.After(250 * ms):
						}
						_ = sub.Close()
					})
				})
				return w.RunFor(time.Minute)
			})
			if err != nil || heard != "it is" {
				t.Errorf("heard %q, %v", heard, err)
			}
		})
	}
}
