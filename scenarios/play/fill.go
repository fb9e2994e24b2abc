package play

import (
	"errors"
	"fmt"
)

// value is the register of the value that all clients want in a round, counted from 0. Each round has another one: no
// client has got it before, and so each needs the lock.
func value(round int) string { return fmt.Sprint("v", round+1) }

// values are the registers of all rounds.
func (p *play) values() []string {
	var all []string
	for round := range p.sc.Workload.Rounds {
		all = append(all, value(round))
	}
	return all
}

// filling is the workload whose sections fill values, or run jobs.
var filling = workload{section: func(g *grant) error { return g.fill(g.client.value) }, registers: (*play).values,
	short: true}

// fill looks whether another client has computed the value meanwhile, and otherwise computes and stores it, as long as
// the client believes in its lease.
func (g *grant) fill(register string) error {
	c := g.client
	if over, err := g.leaseIsOver(); over || err != nil {
		return err
	}
	if !c.play.sc.Workload.LooksOnce() {
		found, ok, err := g.read(register)
		if !ok || err != nil || found != "" {
			return err
		}
	}
	if err := g.hold(c.play.sc.Workload.Hold); errors.Is(err, errAsked) {
		return nil
	} else if err != nil {
		return err
	}
	if over, err := g.leaseIsOver(); over || err != nil {
		return err
	}
	_, err := g.write(register, "")
	return err
}
