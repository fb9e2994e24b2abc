package sqllocks

import (
	"locksim/scenarios/play"
	"locksim/sim"
	"locksim/sim/postgres"
)

// With is one PostgreSQL in which statements have been executed before a run: what the clients of a library would
// otherwise make at the same time.
func With(statements ...string) []play.Servers {
	k := Kind()
	inner := k.Make
	k.Make = func(count int) sim.Kind {
		made := inner(count)
		if p, ok := made.(postgres.Kind); ok {
			p.Schema = append(p.Schema, statements...)
			return p
		}
		return made
	}
	return []play.Servers{{Kind: k, Count: 1}}
}
