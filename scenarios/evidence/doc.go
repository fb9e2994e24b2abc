// Package evidence makes of the record of a run the history that the checker judges.
//
// A driver plays a scenario and writes down what it sees: a [Record]. It decides nothing. [History] is a pure
// function of the scenario, the terms of the lock and the record: who had the lock by the servers' record, when
// clients were away and what excuses them, how long a free lock may take, and whether the lock could be taken again
// at the end. So the same rules judge runs of the simulated world, runs on real servers, and runs that were stored;
// and they are tested on records that no world has to play.
package evidence
