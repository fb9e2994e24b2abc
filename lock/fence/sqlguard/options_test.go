package sqlguard_test

import (
	"regexp"
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    sqlguard.Options
		want []string // parts of the error; none: valid
	}{
		{"the defaults", sqlguard.Options{Mode: fence.Seal, Table: "accounts"}, nil},
		{"a schema", sqlguard.Options{Mode: fence.CAS, Table: "bank.accounts", Key: "no"}, nil},
		{"nothing", sqlguard.Options{}, []string{`unknown fencing mode ""`, `Table "" is not a plain name`}},
		{"no rule", sqlguard.Options{Mode: fence.None, Table: "accounts"},
			[]string{`rule "none" guards nothing: choose one of ["check"`}},
		{"a quoted table", sqlguard.Options{Mode: fence.Seal, Table: `"accounts"`},
			[]string{`Table "\"accounts\"" is not a plain name`}},
		{"half a schema", sqlguard.Options{Mode: fence.Seal, Table: "bank."}, []string{`Table "bank." is not a plain name`}},
		{"three names", sqlguard.Options{Mode: fence.Seal, Table: "a.b.c"}, []string{`Table "a.b.c" is not a plain name`}},
		{"an invalid column", sqlguard.Options{Mode: fence.Seal, Table: "t", Token: "1st"},
			[]string{`column "1st" is not a plain name`}},
		{"one column twice", sqlguard.Options{Mode: fence.Seal, Table: "t", Token: "n", Version: "N"},
			[]string{`column "N" has two roles`}},
		{"other placeholders", sqlguard.Options{Mode: fence.Seal, Table: "t", Placeholders: ":1"},
			[]string{`Placeholders ":1": want "?" or "$1"`}},
	} {
		_, err := sqlguard.New(tc.o)
		if (err == nil) != (len(tc.want) == 0) {
			t.Errorf("%s: error %v", tc.name, err)
		}
		for _, part := range tc.want {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %s", tc.name, err, part)
			}
		}
	}
}

var (
	plain     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	qualified = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)
)

// An accepted name is harmless in a statement, and every harmless one is accepted.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"accounts", "a.b", "a.b.c", "a;b", "é", "a\x00", "--", "", "id", "a?", "1a", "_1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		_, err := sqlguard.New(sqlguard.Options{Mode: fence.Seal, Table: name})
		if (err == nil) != qualified.MatchString(name) {
			t.Errorf("table %q: %v", name, err)
		}
		twice := regexp.MustCompile(`^(?i:fence_token|fence_grant|fence_version)$`).MatchString(name)
		_, err = sqlguard.New(sqlguard.Options{Mode: fence.Seal, Table: "t", Key: name})
		if valid := name == "" || plain.MatchString(name) && !twice; (err == nil) != valid {
			t.Errorf("key %q: %v", name, err)
		}
	})
}
