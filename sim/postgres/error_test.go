//go:build linux

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"locksim/faults"
	"locksim/sim"
)

// TestErrorReply shows that a statement which meets an error is not carried out, that its transaction has
// failed, that what begins or ends a transaction meets none, and that the session goes on.
func TestErrorReply(t *testing.T) {
	strike := func(w *sim.World) {
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		w.At(time.Second, func() { must(w.Faults().ReplyError("p0", faults.ReplyDeadlock, 1, 0)) })
		w.At(2*time.Second, func() { must(w.Faults().ReplyError("p0", faults.ReplyTimeout, 0, time.Second)) })
		w.At(4*time.Second, func() { must(w.Faults().ReplyError("p0", faults.ReplyDeadlock, 1, 0)) })
		w.At(0, func() {
			for _, err := range []error{
				w.Faults().ReplyError("p0", faults.ReplyLoading, 1, 0), w.Faults().ReplyError("p0", faults.ReplyDeadlock, -1, 0),
				w.Faults().ReplyError("p9", faults.ReplyDeadlock, 1, 0), w.Faults().ReplyError("p0", faults.ReplyDeadlock, 1, -1),
			} {
				if err == nil {
					t.Error("it was not refused")
				}
			}
		})
	}
	code := func(err error) string {
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
			return failed.Code
		}
		return fmt.Sprint(err)
	}
	var got []string
	story(t, 1, strike, func(p *sim.Process, db *sql.DB, _ func(string, ...any)) {
		ctx := context.Background()
		say := func(what string, err error) {
			got = append(got, fmt.Sprintf("%v %s: %s", p.Clock().Now().Second(), what, code(err)))
		}
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		exec := func(statement string, args ...any) error {
			_, err := conn.ExecContext(ctx, statement, args...)
			return err
		}
		_ = exec(`CREATE TABLE n (i int)`)
		add := func(i int) error { return exec(`INSERT INTO n VALUES ($1)`, i) }
		count := func() string {
			var n int
			err := conn.QueryRowContext(ctx, `SELECT count(*) FROM n WHERE i > $1`, 0).Scan(&n)
			if err != nil {
				return code(err)
			}
			return fmt.Sprint(n)
		}
		next := func(s int) {
			time.Sleep(time.Duration(s)*time.Second +
				time.Second/2 - time.Duration(p.Clock().Now().Second())*time.Second - time.Duration(p.Clock().Now().Nanosecond()))
		}
		say("add", add(1))
		next(1)
		say("begin", exec("BEGIN"))
		say("add", add(2))
		say("add in the failed transaction", add(3))
		say("rollback", exec("ROLLBACK"))
		say("add, once more", add(4))
		got = append(got, "count "+count())
		next(2)
		say("add", add(5))
		say("simple", exec("INSERT INTO n VALUES (6)"))
		say("set", exec("SET application_name = 'x'"))
		got = append(got, "count "+count())
		next(3)
		say("add", add(7))
		got = append(got, "count "+count())
		next(4)
		say("add", add(8))
		got = append(got, "count "+count())
		_ = conn.Close()
	})
	want := []string{
		"0 add: <nil>",
		"1 begin: <nil>", "1 add: 40P01", "1 add in the failed transaction: 25P02", "1 rollback: <nil>",
		"1 add, once more: <nil>", "count 2",
		"2 add: 57014", "2 simple: 57014", "2 set: <nil>", "count 57014",
		"3 add: <nil>", "count 3",
		"4 add: 40P01", "count 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
