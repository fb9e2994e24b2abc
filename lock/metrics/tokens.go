package metrics

import "sync"

// tokens remembers the highest token of each resource, for a bounded number of them. When the young
// generation is full it becomes the old one, and the old one is forgotten; what is used comes back into the
// young one.
type tokens struct {
	limit int

	mu         sync.Mutex // guards the rest
	young, old map[string]uint64
}

func newTokens(limit int) *tokens { return &tokens{limit: limit, young: map[string]uint64{}} }

// highest returns the highest token that was seen for a resource, 0 if none is remembered. A grant is to be
// compared with what this returned before the lock was asked: one that came meanwhile may be the later one.
func (t *tokens) highest(resource string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(resource)
}

// saw notes a token. 0 is none.
func (t *tokens) saw(resource string, token uint64) {
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
