package search

import (
	"fmt"
	"strings"
	"time"

	"locksim/lock"
	"locksim/lock/broken"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

// SpecimenSpace is the space in which the mistake of a lock of package broken
// shows, by what the specimen says of itself: its class of fault, and its range
// of TTLs as far as it lies within the default one. The rest is for [Discover]
// to find out. The name is one of [Specimens]; the error lists them.
func SpecimenSpace(name string) (Space, error) {
	s, err := broken.Find(strings.TrimPrefix(name, kinds.BrokenPrefix))
	if err != nil {
		return Space{}, fmt.Errorf("the space of %s: %w", name, err)
	}
	classes := []lock.Fault{}
	if s.Fault != "" {
		classes = append(classes, s.Fault)
	}
	usual := Space{}.WithDefaults().TTL
	ttl := file.Range{Min: max(s.MinTTL, usual.Min), Max: min(s.MaxTTL, usual.Max)}
	return Space{Faults: classes, TTL: file.Range{Min: ttl.Min.Truncate(time.Millisecond), Max: ttl.Max.Truncate(time.Millisecond)}}, nil
}
