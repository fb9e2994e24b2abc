package sqlguard

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"locksim/lock/fence"
)

// Options configure a guard. Mode and Table are required.
//
// Names become part of statements unquoted: each is a letter or underscore, then letters, digits and underscores, all
// of ASCII; the name of the table may have a schema before it, with a dot.
type Options struct {
	// Mode is the rule. It must not be [fence.None], which guards nothing.
	Mode fence.Mode

	// Table is the table's name.
	Table string

	// Key is the column by which a row is found. It is the primary key, or UNIQUE. "" means "id".
	Key string

	// Token, Grant and Version are the columns with the state of the rule; the package documentation has their types.
	// "" means "fence_token", "fence_grant", "fence_version".
	Token, Grant, Version string

	// Placeholders is the form of arguments of the database's driver. "" means Question.
	Placeholders Placeholders
}

// Placeholders is the form of arguments in a statement.
type Placeholders string

const (
	// Question is "?" for each argument: MySQL, MariaDB, SQLite.
	Question Placeholders = "?"
	// Dollar is "$1", "$2" and so on: PostgreSQL.
	Dollar Placeholders = "$1"
)

// Validate returns an error that names every invalid field, or nil. [New] calls it.
func (o Options) Validate() error {
	var errs []error
	if _, err := fence.ParseMode(string(o.Mode)); err != nil {
		errs = append(errs, err)
	} else if o.Mode == fence.None {
		errs = append(errs, fmt.Errorf("rule %q guards nothing: choose one of %q", o.Mode, fence.Modes()[1:]))
	}
	if schema, name, qualified := strings.Cut(o.Table, "."); !identifier(schema) || qualified && !identifier(name) {
		errs = append(errs, fmt.Errorf("the Table %q is not a plain name, or two of them with a dot between", o.Table))
	}
	if o.Placeholders != "" && o.Placeholders != Question && o.Placeholders != Dollar {
		errs = append(errs, fmt.Errorf("Placeholders %q: want %q or %q", o.Placeholders, Question, Dollar))
	}
	return errors.Join(append(errs, o.withDefaults().columns())...)
}

func (o Options) columns() error {
	own := map[string]bool{}
	for _, name := range []string{o.Key, o.Token, o.Grant, o.Version} {
		if !identifier(name) {
			return fmt.Errorf("column %q is not a plain name", name)
		}
		if own[strings.ToLower(name)] {
			return fmt.Errorf("column %q has two roles", name)
		}
		own[strings.ToLower(name)] = true
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Key = cmp.Or(o.Key, "id")
	o.Token = cmp.Or(o.Token, "fence_token")
	o.Grant = cmp.Or(o.Grant, "fence_grant")
	o.Version = cmp.Or(o.Version, "fence_version")
	o.Placeholders = cmp.Or(o.Placeholders, Question)
	return o
}

// own reports whether a column belongs to the guard. Most databases ignore case.
func (o Options) own(column string) bool {
	for _, name := range []string{o.Key, o.Token, o.Grant, o.Version} {
		if strings.EqualFold(name, column) {
			return true
		}
	}
	return false
}

// identifier reports whether a name may be used in a statement without quotes.
func identifier(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		digit := '0' <= c && c <= '9'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return name != ""
}
