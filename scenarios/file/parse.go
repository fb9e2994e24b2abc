package file

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
)

// Parse reads a scenario from the content of a file. The file's name is used in
// error messages only. Missing keys get the defaults that the fields of Scenario
// name.
//
// The format is strict: unknown and repeated keys, a second document, anchors,
// tags, tabs, and everything that Scenario.Validate refuses are errors. Every
// error is an *InputError with the position; Parse never panics.
//
// kinds are the kinds of servers, other than Redis, that the file may name: see
// [locksim/scenarios/play.ServerNames].
func Parse(file string, data []byte, kinds ...server.Facts) (s *Scenario, err error) {
	p := &reader{file: file, kinds: withKnown(kinds), src: bytes.Clone(data),
		at: map[string]faults.Pos{"": {File: file, Line: 1, Column: 1}}}
	defer func() {
		// The YAML library panics on some invalid input.
		if r := recover(); r != nil {
			s, err = nil, NewInputError(p.src, p.at[""], "not valid YAML: the parser panicked (%v)", r)
		}
	}()
	s = p.scenario()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// reader turns a file into a scenario. It keeps the first error and ignores later
// ones, so that the code that reads a part need not check for errors at each step.
type reader struct {
	file  string
	kinds []server.Facts
	src   []byte
	at    map[string]faults.Pos // by path, see Scenario.Pos
	err   *InputError
}

func (p *reader) fail(pos faults.Pos, format string, args ...any) {
	if p.err == nil {
		p.err = NewInputError(p.src, pos, format, args...)
	}
}

func (p *reader) scenario() *Scenario {
	root := p.document()
	if p.err != nil {
		return nil
	}
	s := Defaults()
	s.File, s.Source, s.at = p.file, p.src, p.at
	top := value{p: p, node: root, pos: p.at[""]}.fields(
		"name", "title", "why", "catalogue", "world", "lock", "store", "workload", "faults", "locks", "expect")
	top.need("name", "name: my-scenario")
	top.text("name", &s.Name)
	top.text("title", &s.Title)
	top.text("why", &s.Why)
	top.words("catalogue", &s.Catalogue, "[F11, F12]")
	top.group("world", func(v value) { readWorld(v, s) })
	top.group("lock", func(v value) { readLock(v, s) })
	top.text("store", &s.Store)
	top.group("workload", func(v value) { readWorkload(v, s) })
	top.group("faults", func(v value) { s.Faults = readFaults(v) })
	top.words("locks", &s.Locks, "[single, fenced]")
	top.group("expect", func(v value) { s.Expect = readExpect(v) })
	p.validate(s)
	return s
}

func readWorld(v value, sc *Scenario) {
	names := []string{"redis"}
	for _, k := range v.p.kinds {
		names = append(names, k.Name)
	}
	f, w := readKeys(v, "world", sc, names...), &sc.World
	for _, k := range v.p.kinds {
		count := 0
		if f.whole(k.Name, &count); count != 0 {
			w.Servers = append(w.Servers, ServerCount{k, count})
		}
	}
	if slices.SortFunc(w.Servers,
		func(a, b ServerCount) int { return strings.Compare(a.Name, b.Name) }); len(w.Servers) > 0 {
		w.Redis = 0 // unless the file says otherwise
	}
	f.whole("redis", &w.Redis)
}

func readLock(v value, s *Scenario) {
	f := readKeys(v, "lock", s, "kind", "settings")
	f.text("kind", &s.Lock.Kind)
	f.group("settings", func(v value) { s.Lock.Settings = readSettings(v) })
}

func readWorkload(v value, s *Scenario) {
	f := readKeys(v, "workload", s, "section")
	f.group("section", func(v value) {
		s.Workload.Section = readSection(v)
		if k, both := f.get("kind"); both {
			v.p.fail(k.pos, "%s: the section has steps of its own: leave kind out, or section", k.name())
		}
	})
}

// readExpect expands groups of kinds. A line about a group does not apply to a mode
// in which a kind of the group cannot run.
func readExpect(v value) map[string]map[fence.Mode]checker.Label {
	expect := make(map[string]map[fence.Mode]checker.Label)
	for _, line := range v.entries() {
		labels := readLabels(line)
		if v.p.err != nil {
			return nil
		}
		for _, kind := range kinds.Members(line.key) {
			if expect[kind] == nil {
				expect[kind] = make(map[fence.Mode]checker.Label)
			}
			for mode, label := range labels {
				if kind == line.key || kinds.RunsIn(kind, mode.NeedsToken()) {
					expect[kind][mode] = label
					v.p.at[v.path+"."+kind+"."+string(mode)] = v.p.at[line.path+"."+string(mode)]
				}
			}
		}
	}
	return expect
}

func readLabels(v value) map[fence.Mode]checker.Label {
	labels := make(map[fence.Mode]checker.Label)
	for _, mode := range v.fields(words(fence.Modes())...).present {
		var label string
		mode.text(&label)
		v.p.invalid(validateLabel(v.key, fence.Mode(mode.key), checker.Label(label)))
		labels[fence.Mode(mode.key)] = checker.Label(label)
	}
	return labels
}

// validate turns an error about a field into one with a position in the file.
func (p *reader) validate(s *Scenario) {
	if p.err != nil {
		return
	}
	p.invalid(s.Validate())
}

// invalid turns an error about a field, which may be nil, into one with the position of that field.
func (p *reader) invalid(err error) {
	if field, ok := errors.AsType[*faults.FieldError](err); ok {
		p.fail((&Scenario{File: p.file, at: p.at}).Pos(field.Field), "%v", field)
	}
}

// document is the only document of the file.
func (p *reader) document() ast.Node {
	p.checkText()
	if p.err != nil {
		return nil
	}
	tokens := lexer.Tokenize(string(bytes.ReplaceAll(trimMark(p.src), []byte("\r\n"), []byte("\n"))))
	p.checkDepth(tokens)
	if p.err != nil {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // entries has the better error
	if err != nil {
		p.syntaxError(err)
		return nil
	}
	return p.only(file.Docs)
}

// only is the body of the only document.
func (p *reader) only(docs []*ast.DocumentNode) ast.Node {
	if len(docs) == 0 || docs[0].Body == nil && len(docs) == 1 {
		p.fail(p.at[""], "the file is empty: a scenario needs a name at least, such as name: my-scenario")
		return nil
	}
	if directive, ok := docs[0].Body.(*ast.DirectiveNode); ok {
		p.fail(p.tokenPos(directive.GetToken()), "a directive is not part of the format: leave this line out")
		return nil
	}
	if len(docs) > 1 {
		p.fail(p.tokenPos(docs[1].Start), "a second document begins here: put each scenario into a file of its own")
		return nil
	}
	return docs[0].Body
}

// plainSyntax says in other words what the YAML library says of common mistakes, and what to do.
var plainSyntax = map[string]string{
	"sequence end token ']' not found":          "this [ is not closed: add a ]",
	"could not find flow mapping end token '}'": "this { is not closed: add a }",
	"',' or ']' must be specified": "a list in brackets goes on here without a " +
		"comma: add a , or a ]",
	"',' or '}' must be specified": "a group in braces goes on here without a " +
		"comma: add a , or a }",
	"could not find '[' character corresponding to ']'":  "this ] closes no [: leave it out",
	"could not find '{' character corresponding to '}'":  "this } closes no {: leave it out",
	"could not find end character of double-quoted text": "this \" is not closed: add a \"",
	"could not find end character of single-quoted text": "this ' is not closed: add a '",
	"mapping value is not allowed in this context": "a line has one key and one value: put quotes " +
		"around a value with a colon, and begin a new line for a new key",
	"non-map value is specified": "this line has no key: write key: value, " +
		"indent it as the lines above, and close each quote",
	"value is not allowed in this context. map key-value is pre-defined": "this value has no key: write key: value, " +
		"indent it as the lines above, and close each quote",
	"value is not allowed in this context": "this cannot stand here: look at the brackets " +
		"and the indentation of this line and of those above",
	"unexpected scalar value type": "there is no value here: leave out the comma, " +
		"or give a value",
	"block sequence entries are not allowed in this context": "a list with - cannot begin here: begin it in " +
		"a line of its own",
}

func (p *reader) syntaxError(err error) {
	pos, msg := p.at[""], err.Error()
	if e, ok := errors.AsType[yaml.Error](err); ok {
		pos, msg = p.tokenPos(e.GetToken()), e.GetMessage()
	}
	if said, ok := plainSyntax[msg]; ok {
		msg = said
	}
	p.fail(pos, "not valid YAML: %s", msg)
}

// checkText refuses characters that do not belong in a text file. It also protects
// the YAML library from characters that it counts wrongly, and from files so long
// that its quadratic time matters.
func (p *reader) checkText() {
	if len(p.src) > MaxSource || bytes.Count(p.src, []byte("\n")) > MaxLines {
		p.fail(faults.Pos{File: p.file}, "the file is too long: a scenario has at most %d bytes and %d lines", MaxSource,
			MaxLines)
		return
	}
	pos := faults.Pos{File: p.file, Line: 1, Column: 1}
	for rest := trimMark(p.src); len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n':
			pos.Line, pos.Column = pos.Line+1, 0
		case r == '\r' && bytes.HasPrefix(rest, []byte("\r\n")):
		case r == '\t':
			p.fail(pos, "a tab is not allowed: use spaces")
		case r == utf8.RuneError && size == 1:
			p.fail(pos, "the byte 0x%02X is not UTF-8: save the file as UTF-8", rest[0])
		case !unicode.IsPrint(r):
			p.fail(pos, "the invisible character %U is not allowed: remove it", r)
		}
		pos.Column++
		rest = rest[size:]
	}
}

// maxDepth is the greatest depth of nested brackets. The format needs three; the YAML
// library's time grows with the square of the depth.
const maxDepth = 16

func (p *reader) checkDepth(tokens token.Tokens) {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > maxDepth {
			p.fail(p.tokenPos(t), "brackets are nested more than %d deep: the format needs no more than three", maxDepth)
			return
		}
	}
}

func (p *reader) tokenPos(t *token.Token) faults.Pos {
	if t == nil || t.Position == nil {
		return p.at[""]
	}
	return faults.Pos{File: p.file, Line: max(t.Position.Line, 1), Column: max(t.Position.Column, 1)}
}

// trimMark takes off the byte-order mark that some editors put first.
func trimMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\uFEFF")) }
