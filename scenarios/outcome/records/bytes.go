package records

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// JSON has only text, and the value of a key may be any bytes: two different ones must not become equal. A byte that is
// not part of a character is written as one of these 256 characters, which are for private use, and so is each byte of
// those.
const (
	firstByte = '\U0010FE00'
	lastByte  = firstByte + 0xFF
)

func asText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isByte) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || isByte(r) {
			for i := range n {
				b.WriteRune(firstByte + rune(s[i]))
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// asBytes is the string of which [asText] has made a text.
func asBytes(s string) string {
	if !strings.ContainsFunc(s, isByte) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isByte(r) {
			b.WriteByte(byte(r - firstByte))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isByte(r rune) bool { return r >= firstByte && r <= lastByte }

// texts replaces all strings in a value, but for the keys of maps, which are text.
func texts(of reflect.Value, by func(string) string) {
	switch of.Kind() {
	case reflect.String:
		if s := of.String(); by(s) != s {
			of.SetString(by(s))
		}
	case reflect.Pointer:
		if !of.IsNil() {
			texts(of.Elem(), by)
		}
	case reflect.Struct:
		for i := range of.NumField() {
			texts(of.Field(i), by)
		}
	case reflect.Slice:
		if kind := of.Type().Elem().Kind(); kind == reflect.Int64 {
			return // instants
		}
		for i := range of.Len() {
			texts(of.Index(i), by)
		}
	case reflect.Map:
		for _, key := range of.MapKeys() {
			value := reflect.New(of.Type().Elem()).Elem()
			value.Set(of.MapIndex(key))
			texts(value, by)
			of.SetMapIndex(key, value)
		}
	}
}
