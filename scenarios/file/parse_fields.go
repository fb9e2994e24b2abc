package file

import (
	"slices"
	"time"

	"locksim/internal/prose"
)

// fields are the entries of a mapping that has a fixed set of keys. Reading a
// missing key does nothing, so that the default remains.
type fields struct {
	value
	present []value
}

// fields reads the mapping and refuses keys that are not known.
func (v value) fields(known ...string) fields {
	f := fields{value: v, present: v.entries()}
	for _, e := range f.present {
		if !slices.Contains(known, e.key) {
			v.p.fail(e.keyPos, "%s has no key %q: %s", v.name(), e.key, prose.Choose(e.key, known))
		}
	}
	return f
}

// need refuses a mapping without the key and shows how to write it.
func (f fields) need(key, example string) {
	if _, ok := f.get(key); !ok {
		f.p.fail(f.pos, "%s lacks the key %s: add one, such as %s", f.name(), key, example)
	}
}

func (f fields) get(key string) (value, bool) {
	i := slices.IndexFunc(f.present, func(e value) bool { return e.key == key })
	if i < 0 {
		return value{}, false
	}
	return f.present[i], true
}

// group reads the value of a key with the given function.
func (f fields) group(key string, read func(value)) {
	if v, ok := f.get(key); ok && f.p.err == nil {
		read(v)
	}
}

func (f fields) text(key string, to *string) { f.group(key, func(v value) { v.text(to) }) }
func (f fields) whole(key string, to *int)   { f.group(key, func(v value) { v.whole(to) }) }
func (f fields) span(key string, to *Range)  { f.group(key, func(v value) { v.span(to) }) }
func (f fields) flag(key string, to *bool)   { f.group(key, func(v value) { v.flag(to) }) }

// words reads a list of words.
func (f fields) words(key string, to *[]string, example string) {
	f.group(key, func(v value) {
		for _, element := range v.elements(example) {
			var word string
			element.text(&word)
			*to = append(*to, word)
		}
	})
}

// choice reads an optional word, which must not be empty.
func (f fields) choice(key string, to *string) {
	f.group(key, func(v value) {
		if v.text(to); *to == "" {
			v.p.fail(v.pos, "%s: the word is empty: write one, or leave %s out for the default", v.name(), key)
		}
	})
}

func (f fields) duration(key string, to *time.Duration) {
	f.group(key, func(v value) { v.duration(to) })
}

// positive reads an optional length of time, which must not be 0.
func (f fields) positive(key string, to *time.Duration, instead string) {
	f.group(key, func(v value) {
		if v.duration(to); *to == 0 {
			v.p.fail(v.pos, "%s: 0s is no length of time: %s", v.name(), instead)
		}
	})
}
