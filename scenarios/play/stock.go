package play

import "sync"

// shelf has how many units are left by the value that a write stores. It is safe for concurrent use.
type shelf struct {
	mu   sync.Mutex
	left map[string]int
}

// unitsLeft are the units that are left where a client has read a value.
func (p *play) unitsLeft(value string) int {
	all, _ := p.sc.Workload.Units()
	if value == "" {
		return all
	}
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	return p.shelf.left[value]
}

// enough says that by what a client has read there are as many units left as a section takes.
func (p *play) enough(value string) bool {
	_, take := p.sc.Workload.Units()
	return p.unitsLeft(value) >= take
}

// taken notes that a write, which is based on a value, takes its units. It is called before the write is sent.
func (p *play) taken(write, basedOn string) {
	_, take := p.sc.Workload.Units()
	left := p.unitsLeft(basedOn) - take
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	if p.shelf.left == nil {
		p.shelf.left = map[string]int{}
	}
	p.shelf.left[write] = left
}
