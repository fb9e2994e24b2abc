package search_test

import (
	"testing"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// The holders of a lock that promises right data without a fence, and has the transaction in which it is, work in it,
// in each run that is drawn and in those without faults. Those of other locks work in the store.
func TestWorkInTheTransaction(t *testing.T) {
	within := &subject.Data{Within: func(s subject.Store, _ lock.Lease) subject.Store { return s }}
	for _, tt := range []struct {
		name    string
		data    *subject.Data
		promise fence.Mode
		want    file.DataPlace
	}{
		{"a transaction, and no fence", within, fence.None, file.DataTransaction},
		{"a transaction, and a fence", within, fence.Claim, file.DataStore},
		{"data, but no transaction", &subject.Data{}, fence.None, file.DataStore},
		{"no data", nil, fence.None, file.DataStore},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := scenarios.Kind("single")
			if err != nil {
				t.Fatal(err)
			}
			l.Data, l.Promise.Data = tt.data, string(tt.promise)
			space, runs := search.SpaceOf(l), 0
			for _, cases := range []func(func(search.Case) bool){search.Drawn(l, space, outcome.Seeds{First: 1, Last: 50}),
				search.CalmCases(l, space)} {
				for c := range cases {
					if runs++; c.Scenario.Workload.Data != tt.want {
						t.Fatalf("%s, seed %d: the data is in the %s, want %s", c.Scenario.Name, c.Seed, c.Scenario.Workload.Data,
							tt.want)
					}
				}
			}
			if runs < 55 {
				t.Errorf("only %d runs", runs)
			}
		})
	}
}
