package sqlguard

import (
	"strconv"
	"strings"

	"locksim/lock/fence"
)

// statement is SQL text with its arguments, each of which is a "?" in the text. Names have been checked before, so the
// text contains no other "?".
type statement struct {
	text strings.Builder
	args []any
}

func (s *statement) add(text string, args ...any) {
	s.text.WriteString(text)
	s.args = append(s.args, args...)
}

// sql returns the text with the placeholders of a dialect.
func (s *statement) sql(p Placeholders) string {
	if p == Question {
		return s.text.String()
	}
	var b strings.Builder
	n := 0
	for _, c := range []byte(s.text.String()) {
		if c != '?' {
			b.WriteByte(c)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

// update is the statement that carries out an operation if the rule accepts it, and changes no row otherwise. A read
// sets no columns.
func (o Options) update(key any, set []Column, rule *condition) *statement {
	s := &statement{}
	s.add("UPDATE " + o.Table + " SET ")
	for _, c := range set {
		s.add(c.Name+" = ?, ", c.Value)
	}
	for _, c := range rule.set {
		s.add(c.Name+" = ?, ", c.Value)
	}
	s.add(o.Version+" = "+o.Version+" + 1 WHERE "+o.Key+" = ?", key)
	s.add(rule.where, rule.args...)
	return s
}

// condition is a rule as SQL: when it accepts an operation, and the columns that it then sets.
type condition struct {
	set   []Column
	where string // empty, or begins with " AND "
	args  []any
}

// onRead returns nil if the rule ignores reads.
func (o Options) onRead(op fence.Op) *condition {
	switch o.Mode {
	case fence.Seal, fence.Strict:
		return o.onWrite(op)
	case fence.Claim:
		return &condition{set: []Column{{o.Grant, op.Grant}}}
	}
	return nil
}

func (o Options) onWrite(op fence.Op) *condition {
	token, version := int64(op.Token), int64(op.Version)
	switch o.Mode {
	case fence.Strict:
		return &condition{
			set:   []Column{{o.Token, token}, {o.Grant, op.Grant}},
			where: " AND (" + o.Token + " < ? OR " + o.Token + " = ? AND " + o.Grant + " IN ('', ?))",
			args:  []any{token, token, op.Grant},
		}
	case fence.Claim:
		return &condition{where: " AND " + o.Grant + " = ?", args: []any{op.Grant}}
	case fence.CAS:
		return &condition{where: " AND " + o.Version + " = ?", args: []any{version}}
	}
	return &condition{set: []Column{{o.Token, token}}, where: " AND " + o.Token + " <= ?", args: []any{token}}
}

// query is the statement that reads columns of a row.
func (o Options) query(key any, columns []string) *statement {
	s := &statement{}
	s.add("SELECT "+strings.Join(columns, ", ")+" FROM "+o.Table+" WHERE "+o.Key+" = ?", key)
	return s
}
