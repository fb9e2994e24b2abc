package main

import (
	"fmt"
	"slices"

	"locksim/examples/leases/natskv"
	"locksim/scenarios/compare"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

// trips counts the round trips of the locks of some rows in the simulated world, as locksim compare does.
func trips(rows []row) (map[string]comparisons.Trips, error) {
	all := map[string]comparisons.Trips{}
	for _, r := range rows {
		if _, ok := all[r.lock]; ok || r.hand {
			continue
		}
		l, err := simulated(r.lock)
		if err != nil {
			return nil, err
		}
		if all[r.lock], err = compare.TripsOf(l); err != nil {
			return nil, fmt.Errorf("count the round trips of %s: %w", r.lock, err)
		}
	}
	return all, nil
}

// simulated is a lock as the simulated world plays it.
func simulated(name string) (subject.Lock, error) {
	all := slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), sentinellocks.All(), natskv.All())
	if i := slices.IndexFunc(all, func(l subject.Lock) bool { return l.Name == name }); i >= 0 {
		return all[i], nil
	}
	return redislocks.Kind(name)
}
