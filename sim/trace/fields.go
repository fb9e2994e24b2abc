package trace

import (
	"encoding/binary"
	"strconv"
	"time"
)

// Fields takes the fields of an event, in their order, each with its name. From
// one list of them come the hash of the event, its line of text and its JSON.
// Names appear only in the JSON, where fields without a value are left out. The
// methods return the fields with one more, as append does.
type Fields struct {
	b    []byte
	form form
	some bool // the text or the JSON has a field already
}

// form is what the fields are written for.
type form uint8

const (
	forHash form = iota // all details, so that different values of a type give different bytes
	forLine             // values with spaces between
	forJSON             // an object
)

// hashOf appends the fields of an event for the hash of its trace.
func hashOf(b []byte, w What) []byte { return w.Fields(Fields{b: b}).b }

// lineOf appends an event as one readable line.
func lineOf(b []byte, w What) []byte {
	if own, ok := w.(interface{ AppendText(b []byte) []byte }); ok {
		return own.AppendText(b)
	}
	return w.Fields(Fields{b: b, form: forLine}).b
}

func line(w What) string { return string(lineOf(nil, w)) }

// jsonOf appends the fields of an event as an object after the given name, and
// nothing if no field has a value.
func jsonOf(b []byte, name string, w What) []byte {
	f := w.Fields(Fields{b: append(append(b, name...), '{'), form: forJSON})
	if !f.some {
		return b
	}
	return append(f.b, '}')
}

// next begins a field that has a value, in the text or the JSON.
func (f Fields) next(name string) Fields {
	switch {
	case f.some && f.form == forLine:
		f.b = append(f.b, ' ')
	case f.some:
		f.b = append(f.b, ',')
	}
	if f.form == forJSON {
		f.b = append(appendString(f.b, name), ':')
	}
	f.some = true
	return f
}

// Text is a text.
func (f Fields) Text(name, value string) Fields {
	if f.form == forHash {
		f.b = AppendString(f.b, value)
		return f
	}
	return f.shown(name, value)
}

// Texts are several texts: names and values by turns. The hash has their number
// too.
func (f Fields) Texts(pairs ...string) Fields {
	if f.form == forHash {
		f.b = AppendInt(f.b, int64(len(pairs)/2))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		f = f.Text(pairs[i], pairs[i+1])
	}
	return f
}

// shown adds a text to the line or the JSON, unless it is empty.
func (f Fields) shown(name, value string) Fields {
	switch {
	case value == "":
		return f
	case f.form == forLine:
		f = f.next(name)
		f.b = append(f.b, value...)
	default:
		f = f.next(name)
		f.b = appendString(f.b, value)
	}
	return f
}

// List is a list of texts.
func (f Fields) List(name string, values []string) Fields {
	if f.form == forHash {
		f.b = AppendStrings(f.b, values)
		return f
	}
	if len(values) == 0 {
		return f
	}
	f = f.next(name)
	if f.form == forLine {
		for i, v := range values {
			if i > 0 {
				f.b = append(f.b, ',')
			}
			f.b = append(f.b, v...)
		}
		return f
	}
	f.b = append(f.b, '[')
	for i, v := range values {
		if i > 0 {
			f.b = append(f.b, ',')
		}
		f.b = appendString(f.b, v)
	}
	f.b = append(f.b, ']')
	return f
}

// Count is a number of things, such as "bytes", which are its name. The line has
// both, also for none.
func (f Fields) Count(name string, n int64) Fields {
	if f.form == forLine {
		f = f.next(name)
		f.b = append(append(strconv.AppendInt(f.b, n, 10), ' '), name...)
		return f
	}
	return f.Int(name, n)
}

// Int is a number.
func (f Fields) Int(name string, n int64) Fields {
	switch {
	case f.form == forHash:
		f.b = AppendInt(f.b, n)
	case n != 0:
		f = f.next(name)
		f.b = strconv.AppendInt(f.b, n, 10)
	}
	return f
}

// Uint is a number of 64 bits without a sign.
func (f Fields) Uint(name string, n uint64) Fields {
	switch {
	case f.form == forHash:
		f.b = AppendInt(f.b, int64(n))
	case n != 0:
		f = f.next(name)
		f.b = strconv.AppendUint(f.b, n, 10)
	}
	return f
}

// Duration is a length of time; the JSON has it in nanoseconds.
func (f Fields) Duration(name string, d time.Duration) Fields {
	if f.form == forLine {
		f = f.next(name)
		f.b = append(f.b, d.String()...)
		return f
	}
	return f.Int(name, int64(d))
}

// Lasts is the length of a fault, 0 if it lasts until the world is healed. The
// line has it in words: see [Lasts].
func (f Fields) Lasts(name string, d time.Duration) Fields {
	if f.form == forLine {
		f = f.next(name)
		f.b = append(f.b, Lasts(d)...)
		return f
	}
	return f.Int(name, int64(d))
}

// Is is true or false. The line has its name if it is true.
func (f Fields) Is(name string, yes bool) Fields {
	switch {
	case f.form == forHash && yes:
		f.b = append(f.b, 1)
	case f.form == forHash:
		f.b = append(f.b, 0)
	case yes && f.form == forLine:
		f = f.next(name)
		f.b = append(f.b, name...)
	case yes:
		f = f.next(name)
		f.b = append(f.b, "true"...)
	}
	return f
}

// Code is a number that the kind of the event stands for: only the hash has it.
func (f Fields) Code(of uint8) Fields {
	if f.form == forHash {
		f.b = append(f.b, of)
	}
	return f
}

// Content is content that the event always has. The line and the JSON have its
// text.
func (f Fields) Content(name string, c Content) Fields {
	switch f.form {
	case forHash:
		f.b = c.AppendHash(f.b)
	case forLine:
		f = f.next(name)
		f.b = c.AppendText(f.b)
	case forJSON:
		text := string(c.AppendText(nil))
		f = f.shown(name, text)
	}
	return f
}

// Maybe is content that may be absent: nil.
func (f Fields) Maybe(name string, c Content) Fields {
	if f.form == forHash {
		f = f.Is(name, c != nil)
	}
	if c == nil {
		return f
	}
	return f.Content(name, c)
}

// AppendString appends a string with its length, for [Content.AppendHash].
func AppendString(b []byte, s string) []byte {
	return append(AppendInt(b, int64(len(s))), s...)
}

// AppendStrings appends a list of strings with its length, for
// [Content.AppendHash].
func AppendStrings(b []byte, list []string) []byte {
	b = AppendInt(b, int64(len(list)))
	for _, s := range list {
		b = AppendString(b, s)
	}
	return b
}

// AppendInt appends a number, for [Content.AppendHash].
func AppendInt(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }
