package redisguard_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"locksim/lock/fence"
)

// Many holders at once, as if the lock did not exclude: no accepted write is lost under a rule that promises it. A
// write stores its own id; the path back from the last value, from each write to the one that it was based on, must
// contain every accepted write.
func TestNoLostUpdateAmongManyHolders(t *testing.T) {
	for _, tc := range []struct {
		mode      fence.Mode
		duplicate bool // every grant gets the same token
	}{
		{fence.Seal, false}, {fence.Strict, false}, {fence.Strict, true},
		{fence.Claim, true}, {fence.CAS, true},
	} {
		t.Run(fmt.Sprintf("%s/duplicate=%v", tc.mode, tc.duplicate), func(t *testing.T) {
			_, client := node(t)
			s := &sections{based: map[string]string{}}
			g := guard(t, client, tc.mode)
			var minted atomic.Uint64
			var all sync.WaitGroup
			for h := range 4 {
				all.Go(func() {
					for round := range 20 {
						op := fence.Op{Token: 7, Grant: fmt.Sprintf("%d.%d", h, round)}
						if !tc.duplicate {
							op.Token = minted.Add(1)
						}
						v, err := g.Read(t.Context(), key, "balance", op)
						if errors.Is(err, fence.ErrStale) {
							continue
						}
						op.Version = v.Version
						if err == nil {
							err = g.Write(t.Context(), key, "balance", op.Grant, op)
						}
						s.done(t, op.Grant, v.Text, err)
					}
				})
			}
			all.Wait()
			last, err := client.HGet(t.Context(), key, "balance").Result()
			if err != nil {
				t.Fatal(err)
			}
			s.walk(t, last)
		})
	}
}

// sections are the accepted writes, each with the id that it was based on.
type sections struct {
	mu    sync.Mutex
	based map[string]string
}

func (s *sections) done(t *testing.T, id, based string, err error) {
	if err != nil {
		if !errors.Is(err, fence.ErrStale) {
			t.Error(err)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.based[id] = based
}

func (s *sections) walk(t *testing.T, last string) {
	t.Helper()
	met := 0
	for id := last; id != ""; id = s.based[id] {
		if met++; met > len(s.based) {
			t.Fatal("the path back is a cycle")
		}
	}
	if met != len(s.based) || met == 0 {
		t.Errorf("%d writes were accepted, and the path back has %d of them", len(s.based), met)
	}
}
