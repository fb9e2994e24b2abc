package file

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Setting is a setting of a lock by a name of its own, such as the renew deadline of an election: a length of time such
// as "10s", or a whole number. Which there are is for the lock to say: see the field Settings of a lock under test.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MaxSettings is the greatest number of settings of a lock.
const MaxSettings = 16

// Setting is the value of a setting; ok is false if the scenario leaves it to the lock.
func (l LockSpec) Setting(name string) (value string, ok bool) {
	for _, s := range l.Settings {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// readSettings reads them in the order of their names.
func readSettings(v value) []Setting {
	var all []Setting
	for _, e := range v.entries() {
		switch n := e.node.(type) {
		case *ast.StringNode:
			all = append(all, Setting{e.key, n.Value})
		case *ast.IntegerNode:
			all = append(all, Setting{e.key, n.Token.Value})
		default:
			e.want("a length of time with its unit, such as 10s, or a whole number, such as 3")
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// formatSettings are the settings under their key, after a comma; "" for none.
func formatSettings(all []Setting) string {
	if len(all) == 0 {
		return ""
	}
	entries := make([]string, len(all))
	for i, s := range all {
		entries[i] = s.Name + ": " + s.Value
	}
	return fmt.Sprintf(", settings: {%s}", strings.Join(entries, ", "))
}

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// validateSettings checks names and forms. The lock says which there are, and what they may be.
func (s checked) validateSettings() error {
	if n := len(s.Lock.Settings); n > MaxSettings {
		return wrong("lock.settings", "there are %d: a lock has at most %d", n, MaxSettings)
	}
	for i, one := range s.Lock.Settings {
		path := "lock.settings." + one.Name
		if strings.ContainsFunc(one.Name, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
			return wrong(path, "%q has capitals: write it in small letters with _ between words, as renew_deadline", one.Name)
		}
		if !settingName.MatchString(one.Name) {
			return wrong(path, "%q cannot be a setting: write letters, digits and _, as in renew_deadline", one.Name)
		}
		if i > 0 && s.Lock.Settings[i-1].Name >= one.Name {
			return wrong(path, "the settings are not in the order of their names, each once")
		}
		if n, err := strconv.Atoi(one.Value); err == nil && n >= 0 && one.Value == strconv.Itoa(n) {
			continue
		}
		d, err := time.ParseDuration(one.Value)
		if err != nil {
			return wrong(path, "%q is no length of time with its unit, such as 10s, and no whole number", one.Value)
		}
		if err := inLimits(path, d, 0); err != nil {
			return err
		}
	}
	return nil
}
