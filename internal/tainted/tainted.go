// Package tainted appends a text to the texts of a run, for the tests that no
// text becomes markup or a command in a report.
package tainted

import (
	"reflect"
	"slices"

	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// What is an event with a text appended to each of its texts. The names of
// processes and connections do not change, so that the event is drawn between
// the same lanes.
func What(what trace.What, text string) trace.What {
	v := reflect.New(reflect.TypeOf(what)).Elem()
	v.Set(reflect.ValueOf(what))
	for i := range v.NumField() {
		f := v.Field(i)
		switch name := v.Type().Field(i).Name; {
		case name == "Conn" || name == "Client" || name == "Server" || f.IsZero():
		case f.Kind() == reflect.String:
			f.SetString(f.String() + text)
		case f.Kind() == reflect.Interface:
			f.Set(reflect.ValueOf(content{f.Interface().(trace.Content), text}))
		}
	}
	return v.Interface().(trace.What)
}

// Line is a step of a story with a text appended to its texts.
func Line(l outcome.Line, text string) outcome.Line {
	l.What += text
	l.Text = l.What
	if l.Remark != "" {
		l.Remark += text
		l.Text += " — " + l.Remark
	}
	return l
}

// content is a content with a text appended to its text, to each of its words
// but the first, and to its short form.
type content struct {
	trace.Content
	text string
}

// AppendText implements [trace.Content].
func (c content) AppendText(b []byte) []byte {
	return append(c.Content.AppendText(b), c.text...)
}

// Words implements [trace.Worded].
func (c content) Words() []string {
	words := slices.Clone(trace.WordsOf(c.Content))
	for i := range words {
		if i > 0 {
			words[i] += c.text
		}
	}
	return words
}

// Brief implements [trace.Request].
func (c content) Brief(answer trace.Content) string {
	if a, ok := answer.(content); ok {
		answer = a.Content
	}
	brief := c.Content.(trace.Request).Brief(answer)
	if brief == "" {
		return ""
	}
	return brief + c.text
}

// Negative implements [trace.Answer].
func (c content) Negative() bool {
	a, ok := c.Content.(trace.Answer)
	return ok && a.Negative()
}
