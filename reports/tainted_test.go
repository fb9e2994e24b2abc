package reports_test

import (
	"reflect"
	"slices"

	"locksim/sim/trace"
)

// tainted is what happened, with a text behind each text of it. The names of processes
// and of connections stay as they are: it is drawn between the same lanes.
func tainted(what trace.What, text string) trace.What {
	v := reflect.New(reflect.TypeOf(what)).Elem()
	v.Set(reflect.ValueOf(what))
	for i := range v.NumField() {
		f := v.Field(i)
		switch name := v.Type().Field(i).Name; {
		case name == "Conn" || name == "Client" || name == "Server" || f.IsZero():
		case f.Kind() == reflect.String:
			f.SetString(f.String() + text)
		case f.Kind() == reflect.Interface:
			f.Set(reflect.ValueOf(taintedContent{f.Interface().(trace.Content), text}))
		}
	}
	return v.Interface().(trace.What)
}

// taintedContent is a content with a text behind it, behind each of its words but the
// first, and behind its short form.
type taintedContent struct {
	trace.Content
	text string
}

func (c taintedContent) AppendText(b []byte) []byte {
	return append(c.Content.AppendText(b), c.text...)
}

func (c taintedContent) Words() []string {
	words := slices.Clone(trace.WordsOf(c.Content))
	for i := range words {
		if i > 0 {
			words[i] += c.text
		}
	}
	return words
}

func (c taintedContent) Brief(answer trace.Content) string {
	if a, ok := answer.(taintedContent); ok {
		answer = a.Content
	}
	brief := c.Content.(trace.Request).Brief(answer)
	if brief == "" {
		return ""
	}
	return brief + c.text
}

func (c taintedContent) Negative() bool {
	a, ok := c.Content.(trace.Answer)
	return ok && a.Negative()
}
