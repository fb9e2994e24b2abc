package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

// model is a row under a rule of package fence.
type model struct {
	mode    fence.Mode
	state   fence.State
	balance string
}

func (m *model) read(op fence.Op) (string, error) {
	next, err := m.mode.Read(m.state, op)
	if err != nil {
		return "", err
	}
	m.state = next
	return m.balance, nil
}

func (m *model) write(op fence.Op, value string) error {
	next, err := m.mode.Write(m.state, op)
	if err == nil {
		m.state, m.balance = next, value
	}
	return err
}

var (
	grants = []string{"", "a", "A", "b "}
	tokens = []uint64{0, 1, 2, 9, 10, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
)

func drawOp(dice *rand.Rand) fence.Op {
	return fence.Op{
		Token:   tokens[dice.IntN(len(tokens))],
		Grant:   grants[dice.IntN(len(grants))],
		Version: dice.Uint64N(4),
	}
}

// The guard and the rule return the same results for the same operations, with the same texts, with either kind of
// placeholders: SQLite understands both.
func TestSameAsTheRules(t *testing.T) {
	for _, mode := range rules {
		t.Run(string(mode), func(t *testing.T) {
			p := &pair{db: accounts(t), mode: mode, verdicts: map[string]int{}}
			for seed := range uint64(150) {
				p.guard = guard(t, mode, []sqlguard.Placeholders{sqlguard.Question, sqlguard.Dollar}[seed%2])
				if err := p.sequence(t, seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			p.wantBoth(t)
		})
	}
}

// pair is a guard and its model.
type pair struct {
	db       *sql.DB
	mode     fence.Mode
	guard    *sqlguard.Guard
	model    *model
	verdicts map[string]int
}

// sequence does random operations on a new row.
func (p *pair) sequence(t *testing.T, seed uint64) error {
	execute(t, p.db, `UPDATE accounts SET balance = '', fence_token = 0, fence_grant = '', fence_version = 0`)
	p.model = &model{mode: p.mode}
	dice := rand.New(rand.NewPCG(seed, 0))
	for i := range 1 + dice.IntN(25) {
		op, err := drawOp(dice), error(nil)
		if dice.IntN(2) == 0 {
			err = p.read(t, op)
		} else {
			err = p.write(t, op, fmt.Sprint(i))
		}
		if err != nil {
			return fmt.Errorf("operation %d, %+v: %w", i, op, err)
		}
	}
	var found string
	if err := p.db.QueryRowContext(t.Context(), `SELECT balance FROM accounts`).Scan(&found); err != nil {
		return err
	}
	if found != p.model.balance {
		return fmt.Errorf("at the end the row has %q, want %q", found, p.model.balance)
	}
	return nil
}

func (p *pair) read(t *testing.T, op fence.Op) error {
	want, wantErr := p.model.read(op)
	var got string
	version, err := p.guard.Read(t.Context(), p.db, row, op, balance(&got))
	if got != want {
		return fmt.Errorf("read %q, want %q", got, want)
	}
	if p.mode == fence.CAS && version != p.model.state.Version {
		return fmt.Errorf("read version %d, want %d", version, p.model.state.Version)
	}
	return p.compare("read", err, wantErr)
}

func (p *pair) write(t *testing.T, op fence.Op, value string) error {
	err := p.guard.Write(t.Context(), p.db, row, op, balance(value))
	return p.compare("write", err, p.model.write(op, value))
}

// compare counts the verdicts, and returns an error if two differ.
func (p *pair) compare(verb string, got, want error) error {
	if want == nil && got == nil {
		p.verdicts[verb+" accepted"]++
		return nil
	}
	p.verdicts[verb+" refused"]++
	if want == nil || got == nil || !strings.HasSuffix(got.Error(), ": "+want.Error()) ||
		errors.Is(got, fence.ErrStale) != errors.Is(want, fence.ErrStale) ||
		errors.Is(got, fence.ErrNoGrant) != errors.Is(want, fence.ErrNoGrant) {
		return fmt.Errorf("%s: %v, want %v", verb, got, want) //nolint:errorlint // either may be nil
	}
	return nil
}

// wantBoth checks that the sequences distinguish the rule from one that accepts or refuses everything.
func (p *pair) wantBoth(t *testing.T) {
	want := []string{"read accepted", "write accepted", "write refused"}
	if p.mode == fence.Seal || p.mode == fence.Strict {
		want = append(want, "read refused")
	}
	for _, v := range want {
		if p.verdicts[v] < 50 {
			t.Errorf("%s only %d times: the sequences test too little (%v)", v, p.verdicts[v], p.verdicts)
		}
	}
}

func TestMissingRow(t *testing.T) {
	db := accounts(t)
	op := fence.Op{Token: 1, Grant: "a"}
	for _, mode := range rules {
		g := guard(t, mode, sqlguard.Question)
		_, readErr := g.Read(t.Context(), db, "nowhere", op)
		for _, err := range []error{readErr, g.Write(t.Context(), db, "nowhere", op, balance("1"))} {
			if !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("mode %s: %v", mode, err)
			}
		}
	}
}
