package sqlguard_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"
	"testing"
)

// fake is a database driver that records each statement with its arguments, as "text [1 a]", and returns prescribed
// results. It is for one goroutine.
type fake struct {
	affected int64   // rows that an UPDATE reports
	execErr  error   // the UPDATE fails with it
	countErr error   // the UPDATE works, and its rows cannot be counted
	rows     [][]any // the results of the SELECTs, one after another; nil: no row
	queryErr error
	log      []string
}

// open returns a database on the fake.
func (f *fake) open(t *testing.T) *sql.DB {
	db := sql.OpenDB(f)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

func (f *fake) record(query string, args []driver.NamedValue) {
	values := []any{}
	for _, a := range args {
		values = append(values, a.Value)
	}
	f.log = append(f.log, fmt.Sprintf("%s %v", query, values))
}

type fakeConn struct{ *fake }

func (c fakeConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.record(query, args)
	return fakeResult(c), c.execErr
}

func (c fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.record(query, args)
	if c.queryErr != nil || len(c.rows) == 0 {
		return &fakeRows{}, c.queryErr
	}
	row := c.rows[0]
	c.fake.rows = c.rows[1:]
	return &fakeRows{row}, nil
}

func (fakeConn) Prepare(string) (driver.Stmt, error) { panic("the guard prepares nothing") }
func (fakeConn) Begin() (driver.Tx, error)           { panic("the guard begins no transaction") }
func (fakeConn) Close() error                        { return nil }

type fakeResult struct{ *fake }

func (r fakeResult) LastInsertId() (int64, error) { panic("the guard inserts nothing") }
func (r fakeResult) RowsAffected() (int64, error) { return r.affected, r.countErr }

// fakeRows is one row, or none.
type fakeRows struct{ row []any }

func (r *fakeRows) Columns() []string { return slices.Repeat([]string{"x"}, len(r.row)) }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(dest []driver.Value) error {
	if r.row == nil {
		return io.EOF
	}
	for i, v := range r.row {
		dest[i] = v
	}
	r.row = nil
	return nil
}
