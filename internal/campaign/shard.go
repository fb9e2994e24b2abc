package campaign

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxShards is the maximal number of shards.
const MaxShards = 100_000

// Shard is a part of the jobs: every Count-th job, starting with number Index. The zero
// value has all jobs.
type Shard struct {
	// Index is the number of the shard, from 0 to Count-1.
	Index int
	// Count is the number of shards. 0 means 1.
	Count int
}

// ParseShard reads "2/8": the third of eight shards, which are numbered from 0.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errCount := strconv.Atoi(count)
	if !ok || errIndex != nil || errCount != nil {
		return Shard{}, fmt.Errorf("%q is no shard: write INDEX/COUNT, such as 0/8 for the first of eight", text)
	}
	return NewShard(i, n)
}

// NewShard is shard number i of n. The error names the number that is out of range.
func NewShard(i, n int) (Shard, error) {
	switch {
	case n < 1 || n > MaxShards:
		return Shard{}, fmt.Errorf("%d shards: give a number from 1 to %d", n, MaxShards)
	case i < 0 || i >= n:
		return Shard{}, fmt.Errorf("shard %d of %d: shards are numbered from 0 to %d", i, n, n-1)
	}
	return Shard{Index: i, Count: n}, nil
}

// Has reports whether the shard has a job.
func (s Shard) Has(job int) bool { return s.Whole() || job%s.Count == s.Index }

// Of is the number of jobs that the shard has of so many.
func (s Shard) Of(jobs int) int {
	if s.Whole() {
		return jobs
	}
	n := jobs / s.Count
	if s.Index < jobs%s.Count {
		n++
	}
	return n
}

// Whole reports whether the shard has all jobs.
func (s Shard) Whole() bool { return s.Count <= 1 }

// String is the shard as [ParseShard] reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, max(s.Count, 1)) }
