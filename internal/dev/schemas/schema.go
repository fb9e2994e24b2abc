package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// schema is the JSON Schema of a document. The sources of its types are in the
// checkout in the folder root.
func (d document) schema(root string) ([]byte, error) {
	g := &generator{
		document: d,
		source:   source{root: root, packages: map[string]*declarations{}},
		types:    map[string]reflect.Type{},
		words:    jsonschema.Definitions{},
		limited:  map[string]bool{},
	}
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Namer: g.name, Mapper: g.mapped,
		LookupComment: g.comment}
	t := reflect.TypeOf(d.value)
	s := r.ReflectFromType(t)
	s.ID = jsonschema.ID(fmt.Sprintf("urn:locksim:schema:%s:%d", d.name, d.version))
	s.Title = d.title
	g.complete(t, s)
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		g.complete(g.types[name], s.Definitions[name])
	}
	for _, property := range slices.Sorted(maps.Keys(d.words)) {
		if !g.limited[property] {
			g.fail("there is no property %s, for which the table documents has words", property)
		}
	}
	maps.Copy(s.Definitions, g.words)
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return out.Bytes(), err
}

// generator makes one schema.
type generator struct {
	document
	source  source
	types   map[string]reflect.Type // by their names in $defs
	words   jsonschema.Definitions  // of strings with few values, by their names in $defs
	limited map[string]bool         // the properties to which the document's words were applied
	errs    []error
}

func (g *generator) fail(format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf(format, args...))
}

// name is the name of a type in $defs: its Go name in snake case, for the packages in
// campaigns after what is there, or the name in the table names.
func (g *generator) name(t reflect.Type) string {
	many := (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && t.PkgPath() != ""
	if t.Kind() != reflect.Struct && !many && len(g.constants(t)) == 0 {
		return ""
	}
	name, given := names[t]
	if !given {
		name = strings.ReplaceAll(jsonschema.ToSnakeCase(t.Name()), "-", "_")
		if of := campaigns[path.Base(t.PkgPath())]; of != "" && name != of {
			name = of + "_" + name
		}
	}
	if other := g.types[name]; other != nil && other != t {
		g.fail("%v and %v are both %s in $defs: give one another name in the table names", other, t, name)
	}
	g.types[name] = t
	return name
}

func (g *generator) declarations(t reflect.Type) *declarations {
	d, err := g.source.of(t)
	if err != nil {
		g.fail("%w", err)
		return &declarations{}
	}
	return d
}

func (g *generator) constants(t reflect.Type) []string {
	if t.Kind() != reflect.String {
		return nil
	}
	return g.declarations(t).constants[t.Name()]
}

// comment is the comment of a field or, without a field, the first paragraph of the
// comment of the type.
func (g *generator) comment(t reflect.Type, field string) string {
	if field != "" {
		if f, ok := t.FieldByName(field); ok && len(f.Index) > 1 { // of a structure that is embedded
			t = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
		}
		return g.declarations(t).comments[t.Name()+"."+field]
	}
	text, _, _ := strings.Cut(g.declarations(t).comments[t.Name()], "\n\n")
	return text
}

// mapped is the schema of a type with more rules than those of its kind; nil for others.
func (g *generator) mapped(t reflect.Type) *jsonschema.Schema {
	switch values := g.constants(t); {
	case len(values) > 0:
		return g.allowed(words{g.name(t), g.comment(t, ""), values})
	case t.Kind() == reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: "18446744073709551615"}
	}
	return nil
}

// allowed refers to some words.
func (g *generator) allowed(w words) *jsonschema.Schema {
	if w.text == "" {
		g.fail("string type %s has no comment", w.name)
	}
	all := &jsonschema.Schema{Description: w.text, Type: "string"}
	for _, v := range w.values {
		all.Enum = append(all.Enum, v)
	}
	g.words[w.name] = all
	return &jsonschema.Schema{Ref: "#/$defs/" + w.name}
}

// complete adds to the schema of a struct the rules that the library does not support.
func (g *generator) complete(t reflect.Type, s *jsonschema.Schema) {
	if s.Description == "" {
		g.fail("type %v has no comment", t)
	}
	if t.Kind() == reflect.Map {
		s.PropertyNames = g.mapped(t.Key())
		sensible(s, false)
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p, ok := s.Properties.Get(name)
		if f.Anonymous || !ok {
			continue
		}
		if p.OneOf != nil { // by the tag nullable
			p.Description, p.OneOf[0].Description = p.OneOf[0].Description, ""
		}
		if p.Description == "" && p.Ref == "" {
			g.fail("field %v.%s has no comment", t, f.Name)
		}
		if p.OneOf != nil {
			p = p.OneOf[0]
		}
		if f.Type.Kind() == reflect.Map {
			p.PropertyNames = g.mapped(f.Type.Key())
			p.MinProperties = minProperties(f)
		}
		for _, key := range []string{name, t.String() + "." + name} {
			if w, ok := g.document.words[key]; ok {
				g.limit(p, w)
				g.limited[key] = true
			}
		}
		if v, ok := constant(t, f); ok {
			p.Const = v
		}
		sensible(p, !slices.Contains(s.Required, name))
	}
	if p, ok := parts[t]; ok {
		g.separate(t, s, p)
	}
}

// minProperties is the value in the tag, which the library does not read.
func minProperties(f reflect.StructField) *uint64 {
	for keyword := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
		if text, ok := strings.CutPrefix(keyword, "minProperties="); ok {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil {
				return &n
			}
		}
	}
	return nil
}

// limit allows only some words for the texts of a property.
func (g *generator) limit(p *jsonschema.Schema, w words) {
	ref := g.allowed(w)
	switch {
	case p.Items != nil:
		p.Items = ref
	case p.AdditionalProperties != nil:
		p.PropertyNames = ref
	default:
		p.Type, p.Ref = "", ref.Ref
	}
}

// constant is the value that a field has in each document.
func constant(t reflect.Type, f reflect.StructField) (any, bool) {
	for _, d := range documents {
		if v := reflect.ValueOf(d.value); v.Type() == t && len(f.Index) == 1 && !v.Field(f.Index[0]).IsZero() {
			return v.Field(f.Index[0]).Interface(), true
		}
	}
	return nil, false
}

// sensible adds the default rules where the tags have none: numbers are not negative, texts
// are not empty, nor are lists that may be absent.
func sensible(s *jsonschema.Schema, optional bool) {
	one := uint64(1)
	switch s.Type {
	case "integer", "number":
		if s.Const == nil {
			s.Minimum = cmp.Or(s.Minimum, "0")
		}
	case "string":
		if s.MinLength == nil && s.Const == nil && s.Enum == nil && s.Pattern == "" {
			s.MinLength = &one
		}
		if s.MinLength != nil && *s.MinLength == 0 {
			s.MinLength = nil
		}
	case "array":
		if optional && s.MinItems == nil {
			s.MinItems = &one
		}
		sensible(s.Items, false)
	case "object":
		sensible(s.AdditionalProperties, false)
	}
}

// separate makes the fields of an embedded pointer, and some more, depend on the label.
func (g *generator) separate(t reflect.Type, s *jsonschema.Schema, p part) {
	then, required := jsonschema.NewProperties(), slices.Clone(p.more)
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || len(f.Index) == 1 || t.Field(f.Index[0]).Type.Kind() != reflect.Pointer {
			continue
		}
		then.Set(name, jsonschema.FalseSchema)
		if i := slices.Index(s.Required, name); i >= 0 {
			required = append(required, name)
			s.Required = slices.Delete(s.Required, i, i+1)
		}
	}
	for _, name := range p.more {
		then.Set(name, jsonschema.FalseSchema)
	}
	for _, name := range append(slices.Clone(p.more), p.label) {
		if _, ok := s.Properties.Get(name); !ok {
			g.fail("type %v has no field %s, which the table parts names", t, name)
		}
	}
	when := jsonschema.NewProperties()
	when.Set(p.label, &jsonschema.Schema{Const: p.none})
	s.If = &jsonschema.Schema{Properties: when}
	s.Then = &jsonschema.Schema{Properties: then}
	s.Else = &jsonschema.Schema{Required: required}
}
