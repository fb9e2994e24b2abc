package sqllock

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"locksim/lock/fence/sqlguard"
)

// Dialect is the kind of a database.
type Dialect string

const (
	// PostgreSQL is the default.
	PostgreSQL Dialect = "postgresql"
	// MySQL is MySQL 8, or MariaDB 10.6 and later.
	MySQL Dialect = "mysql"
)

func (d Dialect) validate() error {
	if d != "" && d != PostgreSQL && d != MySQL {
		return fmt.Errorf("the Dialect %q: want %q or %q", d, PostgreSQL, MySQL)
	}
	return nil
}

// needs returns an error if a lock is for another kind of database.
func (d Dialect) needs(want Dialect, instead string) error {
	if cmp.Or(d, PostgreSQL) != want {
		return fmt.Errorf("the lock is one of %s: take %s", want, instead)
	}
	return nil
}

// seconds returns an error if a time that MySQL counts in seconds has others.
func (d Dialect) seconds(ttl time.Duration) error {
	if d == MySQL && ttl%time.Second != 0 {
		return fmt.Errorf("TTL %v is not a whole number of seconds, the unit of wait_timeout in MySQL", ttl)
	}
	return nil
}

// pick is the text of a statement for the database.
func (d Dialect) pick(postgres, mysql string) statement {
	if d != MySQL {
		return statement{text: postgres}
	}
	return questions(mysql)
}

func (d Dialect) placeholders() sqlguard.Placeholders {
	if d == MySQL {
		return sqlguard.Question
	}
	return sqlguard.Dollar
}

// statement is a statement with arguments.
type statement struct {
	text  string
	order []int // of MySQL, which argument each question mark is
}

// questions is a statement whose arguments $1 to $9 are question marks.
func questions(text string) statement {
	s := statement{order: []int{}}
	for {
		before, after, ok := strings.Cut(text, "$")
		s.text += before
		if !ok {
			return s
		}
		s.text += "?"
		s.order = append(s.order, int(after[0]-'1'))
		text = after[1:]
	}
}

// args are the arguments in the order of the text.
func (s statement) args(all ...any) []any {
	if s.order == nil {
		return all
	}
	var ordered []any
	for _, i := range s.order {
		ordered = append(ordered, all[i])
	}
	return ordered
}

// number is that of an error of MySQL; 0 if the database has not sent it. The errors of go-sql-driver/mysql have it
// in a field: this package imports no driver.
func number(err error) uint16 {
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.Indirect(reflect.ValueOf(err))
		if v.Kind() != reflect.Struct {
			continue
		}
		if n := v.FieldByName("Number"); n.IsValid() && n.Kind() == reflect.Uint16 {
			return uint16(n.Uint())
		}
	}
	return 0
}

// The numbers of errors of MySQL and MariaDB that matter.
const (
	erNoSavepoint      = 1305 // or no such function
	erServerShutdown   = 1053
	erLockWaitTimeout  = 1205
	erLockDeadlock     = 1213
	erConnectionKilled = 1927
	erLockNowait       = 3572
	erInactive         = 4031
	erChanged          = 1020 // of MariaDB: the row has changed since the transaction read it
)
