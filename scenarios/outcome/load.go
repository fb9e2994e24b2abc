package outcome

import "locksim/scenarios/evidence"

// Load is how many connections to the servers of the lock a client had open when the workload was over, at most, and
// how often one sent something per second while it waited for the lock, at most: see [evidence.AskedPerSecond]. Each is
// 0 if it is not known.
func (m *ModeRun) Load() (connections, perSecond int) {
	if m.Record != nil {
		connections = m.Record.Connections()
	}
	return connections, evidence.AskedPerSecond(&m.History)
}
