package checker_test

import (
	"fmt"

	"locksim/checker"
)

// Two clients hold the lock "orders" one after the other. c0 has read before it was paused, and writes when it resumes,
// long after its validity has ended. All four operations saw the initial value: their Saw is empty.
func ExampleJudge() {
	ok := checker.OutcomeOK
	h := checker.History{
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "orders", Token: 33, Invoked: 1, Granted: 2, Until: 12, Released: 50},
			{ID: 2, Client: "c1", Resource: "orders", Token: 34, Invoked: 8, Granted: 14, Released: 30},
		},
		Ops: []checker.Op{
			{ID: "c0.1", Client: "c0", Grant: 1, Resource: "orders", Token: 33, Kind: checker.Read, Invoked: 3, Applied: 4,
				Accepted: true, Returned: 5, Outcome: ok},
			{ID: "c1.1", Client: "c1", Grant: 2, Resource: "orders", Token: 34, Kind: checker.Read, Invoked: 15, Applied: 16,
				Accepted: true, Returned: 17, Outcome: ok},
			{ID: "c1.2", Client: "c1", Grant: 2, Resource: "orders", Token: 34, Kind: checker.Write, Invoked: 20, Applied: 21,
				Accepted: true, Returned: 22, Outcome: ok},
			{ID: "c0.2", Client: "c0", Grant: 1, Resource: "orders", Token: 33, Kind: checker.Write, Invoked: 40, Applied: 41,
				Accepted: true, Returned: 42, Outcome: ok},
		},
		Final: map[checker.Cell]string{{Resource: "orders"}: "c0.2"},
	}
	v, err := checker.Judge(h, nil)
	if err != nil {
		fmt.Println(err) // the harness is broken
		return
	}
	fmt.Println(v.Label)
	fmt.Println("claim overlaps:", v.Facts.ClaimOverlaps, "belief overlaps:", v.Facts.BeliefOverlaps)
	for _, r := range v.Reasons {
		fmt.Println("-", r.Text)
	}
	// Output:
	// corrupted
	// claim overlaps: 0 belief overlaps: 1
	// - c1's write c1.2 (step 21) to orders was acknowledged. c0's write c0.2 (step 41), based on the initial value, overwrote c1.2: c1.2 is lost.
	// - c1 was granted orders with token 34 at step 14, while c0 outlived its claim: its belief from step 2 went on to step 50, when it released.
	// - c0's stale write c0.2 with token 33 was accepted at step 41: c1 had been granted orders with token 34 at step 14.
}

// A transfer reads two accounts and writes both. c0 crashes between the two writes, without any other client: no lock
// prevents that, and no fence.
func ExampleJudge_tornSection() {
	from, to := checker.Cell{Resource: "bank", Register: "a"}, checker.Cell{Resource: "bank", Register: "b"}
	op := func(id string, kind checker.OpKind, c checker.Cell, at checker.Pos) checker.Op {
		return checker.Op{ID: id, Client: "c0", Grant: 1, Resource: c.Resource, Register: c.Register, Kind: kind,
			Invoked: at, Applied: at + 1, Accepted: true, Returned: at + 2, Outcome: checker.OutcomeOK}
	}
	h := checker.History{
		SectionWrites: 2,
		Grants:        []checker.Grant{{ID: 1, Client: "c0", Resource: "bank", Invoked: 1, Granted: 2, Crashed: 20}},
		Ops: []checker.Op{op("r1", checker.Read, from, 3), op("r2", checker.Read, to, 6),
			op("w1", checker.Write, from, 9)},
		Final: map[checker.Cell]string{from: "w1", to: ""},
	}
	v, err := checker.Judge(h, nil)
	if err != nil {
		fmt.Println(err) // the harness is broken
		return
	}
	fmt.Println(v.Label, "- torn sections:", v.Facts.TornSections)
	fmt.Println(v.Reasons[0].Text)
	// Output:
	// corrupted - torn sections: 1
	// The section of c0 on bank that began at step 3 is torn: its write w1 (step 10) to bank/a is in the data, but it never sent 1 of its 2 writes: it crashed at step 20.
}

// A report folds the labels of many seeds into the worst.
func ExampleWorse() {
	var worst checker.Label
	for _, l := range []checker.Label{checker.Safe, checker.Overlap, checker.Safe} {
		worst = checker.Worse(worst, l)
	}
	fmt.Println(worst)
	// Output: overlap
}
