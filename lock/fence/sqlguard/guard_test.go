package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

// rules are the modes that a guard can have.
var rules = fence.Modes()[1:]

// sender has every field that a rule needs.
var sender = fence.Op{Token: 33, Grant: "a", Version: 4}

func guard(t *testing.T, o sqlguard.Options) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// accounts is a guard of a table with the default names.
func accounts(t *testing.T, mode fence.Mode) *sqlguard.Guard {
	return guard(t, sqlguard.Options{Mode: mode, Table: "accounts"})
}

func balance(v any) sqlguard.Column { return sqlguard.Column{Name: "balance", Value: v} }

// Each operation is one statement; a read of a rule that checks reads has one more.
func TestStatements(t *testing.T) {
	for _, tc := range []struct {
		mode        fence.Mode
		write, read []string
	}{
		{fence.Check,
			[]string{"UPDATE accounts SET balance = ?, fence_token = ?, fence_version = fence_version + 1 WHERE id = ? AND " +
				"fence_token <= ? [7 33 x 33]"},
			[]string{"SELECT fence_version, balance FROM accounts WHERE id = ? [x]"}},
		{fence.Seal,
			[]string{"UPDATE accounts SET balance = ?, fence_token = ?, fence_version = fence_version + 1 WHERE id = ? AND " +
				"fence_token <= ? [7 33 x 33]"},
			[]string{"UPDATE accounts SET fence_token = ?, fence_version = fence_version + 1 WHERE id = ? AND fence_token <= " +
				"? [33 x 33]",
				"SELECT fence_version, balance FROM accounts WHERE id = ? [x]"}},
		{fence.Strict,
			[]string{"UPDATE accounts SET balance = ?, fence_token = ?, fence_grant = ?, fence_version = fence_version + 1 " +
				"WHERE id = ? AND (fence_token < ? OR fence_token = ? AND fence_grant IN ('', ?)) [7 33 a x 33 33 a]"},
			[]string{"UPDATE accounts SET fence_token = ?, fence_grant = ?, fence_version = fence_version + 1 " +
				"WHERE id = ? AND (fence_token < ? OR fence_token = ? AND fence_grant IN ('', ?)) [33 a x 33 33 a]",
				"SELECT fence_version, balance FROM accounts WHERE id = ? [x]"}},
		{fence.Claim,
			[]string{"UPDATE accounts SET balance = ?, fence_version = fence_version + 1 WHERE id = ? AND fence_grant = ? " +
				"[7 x a]"},
			[]string{"UPDATE accounts SET fence_grant = ?, fence_version = fence_version + 1 WHERE id = ? [a x]",
				"SELECT fence_version, balance FROM accounts WHERE id = ? [x]"}},
		{fence.CAS,
			[]string{"UPDATE accounts SET balance = ?, fence_version = fence_version + 1 WHERE id = ? AND fence_version = ? " +
				"[7 x 4]"},
			[]string{"SELECT fence_version, balance FROM accounts WHERE id = ? [x]"}},
	} {
		t.Run(string(tc.mode), func(t *testing.T) {
			f := &fake{affected: 1, rows: [][]any{{int64(5), int64(10)}}}
			db, g := f.open(t), accounts(t, tc.mode)
			if err := g.Write(t.Context(), db, "x", sender, balance(7)); err != nil {
				t.Fatal(err)
			}
			var found int
			version, err := g.Read(t.Context(), db, "x", sender, balance(&found))
			if err != nil || version != 5 || found != 10 {
				t.Fatalf("read version %d, balance %d, %v", version, found, err)
			}
			want := append(tc.write, tc.read...)
			if got := f.log; strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("statements\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// PostgreSQL numbers its arguments; names can be chosen.
func TestDollarsAndNames(t *testing.T) {
	f := &fake{affected: 1}
	g := guard(t, sqlguard.Options{Mode: fence.Strict, Table: "bank.accounts", Key: "no", Token: "tok", Grant: "who",
		Version:      "v",
		Placeholders: sqlguard.Dollar})
	if err := g.Write(t.Context(), f.open(t), 12, sender, balance(7),
		sqlguard.Column{Name: "owner", Value: "?"}); err != nil {
		t.Fatal(err)
	}
	want := "UPDATE bank.accounts SET balance = $1, owner = $2, tok = $3, who = $4, v = v + 1 " +
		"WHERE no = $5 AND (tok < $6 OR tok = $7 AND who IN ('', $8)) [7 ? 33 a 12 33 33 a]"
	if f.log[0] != want {
		t.Errorf("statement\n%s\nwant\n%s", f.log[0], want)
	}
}

// No changed row is a refusal (F67), with the text of the rule; a second query reads the state for it.
func TestNoRowChangedIsRefused(t *testing.T) {
	for _, tc := range []struct {
		mode fence.Mode
		row  []any
		want string
	}{
		{fence.Check, []any{int64(34)}, "write with token 33 refused, token 34 was seen: stale operation"},
		{fence.Seal, []any{int64(34)}, "write with token 33 refused, token 34 was seen: stale operation"},
		{fence.Strict, []any{int64(33), "b"},
			`write with token 33 of grant "a" refused, grant "b" has sent the same token: stale operation`},
		{fence.Claim, []any{"b"}, `write of grant "a" refused, the claim is that of grant "b": stale operation`},
		{fence.Claim, []any{""}, `write of grant "a" refused, it has not read: stale operation`},
		{fence.CAS, []any{int64(5)}, "write based on version 4 refused, version 5 is there: stale operation"},
		{fence.CAS, []any{int64(4)}, "refused, and the row has changed since: stale operation"},
	} {
		f := &fake{rows: [][]any{tc.row}}
		err := accounts(t, tc.mode).Write(t.Context(), f.open(t), "x", sender, balance(7))
		if !errors.Is(err, fence.ErrStale) || err.Error() != "write row x of accounts: "+tc.want {
			t.Errorf("mode %s: %v, want %s", tc.mode, err, tc.want)
		}
	}
}

func TestRefusedReadReadsNothing(t *testing.T) {
	f := &fake{rows: [][]any{{int64(34)}}}
	var found int
	version, err := accounts(t, fence.Seal).Read(t.Context(), f.open(t), "x", sender, balance(&found))
	want := "read row x of accounts: read with token 33 refused, token 34 was seen: stale operation"
	if !errors.Is(err, fence.ErrStale) || err.Error() != want || version != 0 || found != 0 {
		t.Errorf("version %d, balance %d, %v, want %s", version, found, err, want)
	}
}

func TestMissingRow(t *testing.T) {
	for _, mode := range rules {
		f := &fake{}
		db, g := f.open(t), accounts(t, mode)
		_, readErr := g.Read(t.Context(), db, "x", sender)
		for _, err := range []error{readErr, g.Write(t.Context(), db, "x", sender, balance(7))} {
			if !errors.Is(err, sql.ErrNoRows) || errors.Is(err, fence.ErrStale) {
				t.Errorf("mode %s: %v", mode, err)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, tc := range []struct {
		name    string
		fake    *fake
		unknown bool
		want    string
	}{
		{"the statement fails", &fake{execErr: broken}, true, "outcome unknown: broken pipe"},
		{"rows cannot be counted", &fake{affected: 1, countErr: broken}, true, "outcome unknown: the driver does not count " +
			"changed rows: broken pipe"},
		{"two rows", &fake{affected: 2}, false, "2 rows were changed: column id is not unique"},
		{"the second query fails", &fake{queryErr: broken}, false, "no row was changed, and its state could not be read: " +
			"broken pipe"},
	} {
		err := accounts(t, fence.Seal).Write(t.Context(), tc.fake.open(t), "x", sender, balance(7))
		if err == nil || !strings.HasSuffix(err.Error(), ": "+tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
		if errors.Is(err, sqlguard.ErrOutcomeUnknown) != tc.unknown || errors.Is(err, fence.ErrStale) {
			t.Errorf("%s: %v wraps the wrong sentinel", tc.name, err)
		}
	}
}

// An operation that cannot be accepted, or would not do what the caller meant, is not sent.
func TestNothingIsSent(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name   string
		ctx    context.Context
		mode   fence.Mode
		op     fence.Op
		column string
		want   string
	}{
		{"no grant", t.Context(), fence.Claim, fence.Op{}, "balance", "the operation names no grant"},
		{"a large token", t.Context(), fence.Seal, fence.Op{Token: 1 << 63}, "balance", "token 9223372036854775808 does " +
			"not fit into a BIGINT"},
		{"a large version", t.Context(), fence.CAS, fence.Op{Version: 1 << 63}, "balance", "version 9223372036854775808 " +
			"does not fit into a BIGINT"},
		{"a column of the guard", t.Context(), fence.Seal, sender, "Fence_Token", "column Fence_Token is the guard's own"},
		{"the key", t.Context(), fence.Seal, sender, "id", "column id is the guard's own"},
		{"a column with a space", t.Context(), fence.Seal, sender, "balance = 0, x",
			`column "balance = 0, x" is not a plain name`},
		{"an ended context", over, fence.Seal, sender, "balance", "context canceled"},
	} {
		f := &fake{affected: 1}
		err := accounts(t, tc.mode).Write(tc.ctx, f.open(t), "x", tc.op, sqlguard.Column{Name: tc.column, Value: 7})
		if err == nil || !strings.HasSuffix(err.Error(), ": "+tc.want) || errors.Is(err, sqlguard.ErrOutcomeUnknown) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
		if len(f.log) > 0 {
			t.Errorf("%s: sent %q", tc.name, f.log)
		}
	}
}

func TestReadChecksItsColumns(t *testing.T) {
	f := &fake{affected: 1}
	var found int
	_, err := accounts(t, fence.Check).Read(t.Context(), f.open(t), "x", sender, sqlguard.Column{Name: "*", Value: &found})
	if err == nil || !strings.Contains(err.Error(), `column "*" is not a plain name`) || len(f.log) > 0 {
		t.Errorf("%v, sent %q", err, f.log)
	}
}
