package metrics

import "sync"

// tokens stores the highest token of each resource, for a bounded number of them. When the young generation is full it
// becomes the old one, and the old one is dropped; a used entry moves back into the young one.
type tokens struct {
	limit int

	mu         sync.Mutex // guards the rest
	young, old map[string]uint64
}

func newTokens(limit int) *tokens { return &tokens{limit: limit, young: map[string]uint64{}} }

// highest returns the highest stored token of a resource, or 0. Call it before the request of a grant that is compared
// with it: a concurrent grant may be later.
func (t *tokens) highest(resource string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(resource)
}

func (t *tokens) store(resource string, token uint64) {
	if token == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	token = max(token, t.find(resource))
	if _, there := t.young[resource]; !there && len(t.young) >= t.limit {
		t.old, t.young = t.young, make(map[string]uint64, t.limit)
	}
	t.young[resource] = token
}

func (t *tokens) find(resource string) uint64 { return max(t.young[resource], t.old[resource]) }
