package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
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
			s := &sections{db: accounts(t), guard: guard(t, tc.mode, sqlguard.Question), based: map[string]string{}}
			var minted atomic.Uint64
			var all sync.WaitGroup
			for h := range 4 {
				all.Go(func() {
					for round := range 25 {
						op := fence.Op{Token: 7, Grant: fmt.Sprintf("%d.%d", h, round)}
						if !tc.duplicate {
							op.Token = minted.Add(1)
						}
						if err := s.section(t, op); err != nil && !errors.Is(err, fence.ErrStale) {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			s.walk(t)
		})
	}
}

// sections are the accepted writes, each with the id that it was based on.
type sections struct {
	db    *sql.DB
	guard *sqlguard.Guard
	mu    sync.Mutex
	based map[string]string
}

// section reads the row, and writes its own id into it.
func (s *sections) section(t *testing.T, op fence.Op) (err error) {
	var found string
	if op.Version, err = s.guard.Read(t.Context(), s.db, row, op, balance(&found)); err != nil {
		return err
	}
	if err := s.guard.Write(t.Context(), s.db, row, op, balance(op.Grant)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.based[op.Grant] = found
	return nil
}

func (s *sections) walk(t *testing.T) {
	t.Helper()
	var last string
	if err := s.db.QueryRowContext(t.Context(), `SELECT balance FROM accounts`).Scan(&last); err != nil {
		t.Fatal(err)
	}
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

// A transaction commits or rolls back the decision together with its other writes.
func TestTransaction(t *testing.T) {
	db, g := accounts(t), guard(t, fence.Seal, sqlguard.Question)
	first, next := fence.Op{Token: 1}, fence.Op{Token: 2}

	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Write(t.Context(), tx, row, next, balance("never")); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := g.Write(t.Context(), db, row, first, balance("1")); err != nil {
		t.Errorf("the token of a transaction that was rolled back is still stored: %v", err)
	}
	if err := g.Write(t.Context(), db, row, next, balance("2")); err != nil {
		t.Error(err)
	}
	if err := g.Write(t.Context(), db, row, first, balance("3")); !errors.Is(err, fence.ErrStale) {
		t.Errorf("a stale write: %v", err)
	}
}
