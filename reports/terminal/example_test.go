package terminal_test

import (
	"fmt"
	"os"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// A report of a run in which nothing went wrong, without a story. An outcome
// usually comes from play.Run.
func ExampleRun() {
	o := &outcome.Outcome{Scenario: &file.Scenario{Name: "calm", Title: "Nothing goes wrong"}, Lock: "fenced", Seed: 7}
	m := testreports.Run(fence.None, checker.Safe, "Nothing went wrong in this run.")
	m.FaultsFired = nil
	o.Modes = append(o.Modes, m)
	if err := terminal.Run(os.Stdout, o, reports.Options{Replay: "locksim run calm --seed 7"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// seed 7  scenario calm  lock fenced  fencing none  (each run made once)
	// Nothing goes wrong
	//
	// Asked     Does lock fenced let one client in at a time, and does the data stay right, if no fault strikes?
	// Happened  Nothing went wrong in this run.
	// At fault  No one's: nothing went wrong.
	// Remedy    None is needed for this run.
	// How sure  Sure for this run, which is no proof: another seed is another order of events. Many runs are a better test
	//           (locksim explore).
	//
	// mode  verdict  expected      overlaps          stale  data   contended  faults  longest  events  virtual
	//                          claim/belief  taken/refused          acquires  struck     wait             time
	// none  safe     –                0 / 0          0 / 0  right     4 of 6    none   9.674s     369  23.319s
	//
	// The scenario says nothing about what to expect of lock fenced.
	//
	// why
	// none  Nothing went wrong in this run.
	//
	// No violation in this run. That is not a proof: one seed is one schedule of many. In all, 4 of 6 acquires were contended;
	// no faults were scheduled.
	//
	// replay: locksim run calm --seed 7
}
