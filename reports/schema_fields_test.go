package reports_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// compare walks through a type and the schema of it.
func compare(t *testing.T, path string, typ reflect.Type, s, root *schema) {
	t.Helper()
	if ref, isRef := strings.CutPrefix(s.Ref, "#/$defs/"); isRef {
		s = root.Defs[ref]
	}
	if s == nil {
		t.Errorf("%s: the schema says nothing", path)
		return
	}
	switch typ.Kind() {
	case reflect.Struct:
		compareFields(t, path, typ, s, root)
	case reflect.Pointer:
		compare(t, path, typ.Elem(), s, root)
	case reflect.Slice:
		if s.Type != "array" && s.Type != "array or null" || s.Items == nil {
			t.Errorf("%s is a list, and in the schema a %q", path, s.Type)
			return
		}
		compare(t, path+"[]", typ.Elem(), s.Items, root)
	case reflect.Map:
		compare(t, path+".*", typ.Elem(), s.AdditionalProperties, root)
	case reflect.String:
		if s.Type != "string" && len(s.Enum) == 0 {
			t.Errorf("%s is a text, and in the schema a %q", path, s.Type)
		}
	case reflect.Bool:
		expectType(t, path, s, "boolean")
	case reflect.Float64:
		expectType(t, path, s, "number")
	case reflect.Int, reflect.Int64, reflect.Uint64:
		if s.Const == nil {
			expectType(t, path, s, "integer")
		}
	default:
		t.Errorf("%s: no schema for a %s", path, typ.Kind())
	}
}

func expectType(t *testing.T, path string, s *schema, want types) {
	t.Helper()
	if s.Type != want {
		t.Errorf("%s: type %q, want %q", path, s.Type, want)
	}
}

func compareFields(t *testing.T, path string, typ reflect.Type, s, root *schema) {
	t.Helper()
	expectType(t, path, s, "object")
	if s.AdditionalProperties == nil || !s.AdditionalProperties.never {
		t.Errorf("%s: the schema lets unknown fields pass", path)
	}
	var names, always []string
	sometimes := []string{} // required, of a run unless it was not made
	for _, f := range jsonFields(typ, false) {
		names = append(names, f.name)
		switch {
		case !f.omitted && !f.ofPointer:
			always = append(always, f.name)
		case f.ofPointer && !f.omitted:
			sometimes = append(sometimes, f.name)
		}
		field := s.Properties[f.name]
		if field == nil {
			t.Errorf("%s: the schema lacks the field %s", path, f.name)
			continue
		}
		if field.Description == "" && field.Ref == "" {
			t.Errorf("%s.%s has no description", path, f.name)
		}
		compare(t, path+"."+f.name, f.typ, field, root)
	}
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			t.Errorf("%s: the schema has a field %s that is never written", path, name)
		}
	}
	for _, name := range always {
		if !slices.Contains(s.Required, name) {
			t.Errorf("%s: %s is always written, and not required", path, name)
		}
	}
	if extra := without(s.Required, append(always, sometimes...)); len(extra) > 0 {
		t.Errorf("%s: %q are required, and not always written", path, extra)
	}
	if missing := without(sometimes, append(required(s.Else), s.Required...)); len(missing) > 0 {
		t.Errorf("%s: %q are written where there is what they are about, and not required there", path, missing)
	}
}

func required(s *schema) []string {
	if s == nil {
		return nil
	}
	return s.Required
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// jsonField is a field as encoding/json writes it.
type jsonField struct {
	name      string
	typ       reflect.Type
	omitted   bool // where it is empty
	ofPointer bool // of an embedded struct that may be nil
}

func jsonFields(typ reflect.Type, ofPointer bool) []jsonField {
	var out []jsonField
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			out = append(out, jsonFields(f.Type.Elem(), true)...)
		case f.Anonymous && name == "":
			out = append(out, jsonFields(f.Type, ofPointer)...)
		case f.IsExported() && name != "-":
			out = append(out, jsonField{name, f.Type, opts == "omitempty", ofPointer})
		}
	}
	return out
}
