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

// workloadOf is the row of a kind; nil for a list of steps.
func workloadOf(kind file.WorkloadKind) *workload {
	switch kind {
	case file.WorkloadFill, file.WorkloadJob:
		return &filling
	case file.WorkloadLeader:
		return &leading
	case file.WorkloadLate:
		return &trying
	}
	return nil
}

// workload is the row of what clients do; nil for a list of steps, and for the section of a lock.
func (p *play) workload() *workload {
	w := workloadOf(p.sc.Workload.Kind)
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
