package httpserver

import (
	"fmt"

	"locksim/sim"
)

// Balanced is what a name resolves to that stands for several servers, as behind a load balancer that asks them for
// their health: each client has one of them, and the next one while that is down.
func Balanced(nodes []*sim.Node) func(process string) *sim.Node {
	return func(process string) *sim.Node {
		first := 0
		if _, err := fmt.Sscanf(process, "c%d", &first); err != nil {
			first = 0 // the probe
		}
		for i := range nodes {
			if n := nodes[(first+i)%len(nodes)]; !n.Down() {
				return n
			}
		}
		return nodes[first%len(nodes)]
	}
}
