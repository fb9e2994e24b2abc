package play

import "locksim/scenarios/file"

// workload is a kind of workload whose section is not a list of steps. Its row stands in the file of its section.
type workload struct {
	// section is what a client does under a grant.
	section func(*grant) error
	// registers are those that sections work on.
	registers func(*play) []string
	// short says that how long a section lasts does not count as the longest one.
	short bool
	// always says that it takes the place of the section of a lock too.
	always bool
}

// workloads are the rows.
var workloads = map[file.WorkloadKind]*workload{
	file.WorkloadFill: &filling, file.WorkloadJob: &filling, file.WorkloadLeader: &leading, file.WorkloadLate: &trying,
}

// workload is the row of what clients do; nil for a list of steps, and for the section of a lock.
func (p *play) workload() *workload {
	w := workloads[p.sc.Workload.Kind]
	if w != nil && p.lock.Section.Run != nil && !w.always {
		return nil
	}
	return w
}

// worksOn are the registers that sections work on, except nested ones.
func (p *play) worksOn() []string {
	if w := p.workload(); w != nil {
		return w.registers(p)
	}
	return p.registers()
}
