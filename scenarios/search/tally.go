package search

// AddCounts adds counts to others, in place where there are any.
func AddCounts[K comparable](counts, others map[K]int) map[K]int {
	if counts == nil && len(others) > 0 {
		counts = map[K]int{}
	}
	for key, n := range others {
		counts[key] += n
	}
	return counts
}
