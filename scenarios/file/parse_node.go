package file

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"locksim/faults"
)

// value is one value of the file, and its path.
//
// Values are read from the syntax tree, and not by the YAML library's decoder. Even
// in its strict mode the decoder accepts 3.7 and "3" for the number 3, true and 7
// for text, and null for anything, follows anchors and merges, ignores a second
// document, and gives no position for an invalid length of time. Each of these is a
// mistake that the user should see.
type value struct {
	p      *reader
	node   ast.Node
	path   string     // see Scenario.Pos
	pos    faults.Pos // see Scenario.Pos
	key    string     // empty in a list
	keyPos faults.Pos
}

// maxKey is the length of the longest key, in bytes.
const maxKey = 64

// entries are the keys and values of a mapping, in the order of the file.
func (v value) entries() []value {
	group, ok := v.node.(*ast.MappingNode)
	if !ok {
		v.want("keys with values, such as {key: value}")
		return nil
	}
	var all []value
	for _, pair := range group.Values {
		keyPos := v.p.nodePos(pair.Key)
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			v.p.fail(keyPos, "%s: a key is a word, found %s", v.name(), found(pair.Key))
			return nil
		}
		if len(key.Value) > maxKey || strings.ContainsFunc(key.Value, notInWord) {
			v.p.fail(keyPos, "%s: a key is one word of at most %d characters", v.name(), maxKey)
			return nil
		}
		if i := slices.IndexFunc(all, func(e value) bool { return e.key == key.Value }); i >= 0 {
			v.p.fail(keyPos, "%s has the key %q twice: keep one of them", v.name(), key.Value)
			return nil
		}
		all = append(all, v.p.locate(value{
			p: v.p, node: pair.Value, path: join(v.path, key.Value), pos: keyPos, key: key.Value, keyPos: keyPos,
		}))
	}
	return all
}

// elements are the values of a list. The example is for the error of a value that
// is no list.
func (v value) elements(example string) []value {
	list, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.want("a list, such as " + example)
		return nil
	}
	all := make([]value, len(list.Values))
	for i, node := range list.Values {
		path := fmt.Sprintf("%s[%d]", v.path, i)
		all[i] = v.p.locate(value{p: v.p, node: node, path: path, pos: v.p.nodePos(node)})
	}
	return all
}

// locate stores the position of a value. A single value has its own position, a
// group that of its key.
func (p *reader) locate(v value) value {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.SequenceNode, *ast.NullNode, nil:
	default:
		v.pos = p.nodePos(v.node)
	}
	p.at[v.path] = v.pos
	return v
}

func (v value) text(to *string) {
	switch n := v.node.(type) {
	case *ast.StringNode:
		*to = n.Value
	case *ast.LiteralNode:
		*to = n.Value.Value
	default:
		v.want("text")
	}
}

// word is the text of a single word; ok is false for any other value.
func (v value) word() (text string, ok bool) {
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return n.Value, true
}

func (v value) whole(to *int) {
	n, ok := v.node.(*ast.IntegerNode)
	if !ok {
		v.want("a whole number, such as 3")
		return
	}
	number, err := strconv.Atoi(n.Token.Value)
	if err != nil {
		v.want("a whole number in plain digits, such as 3")
		return
	}
	*to = number
}

func (v value) flag(to *bool) {
	n, ok := v.node.(*ast.BoolNode)
	if !ok {
		v.want("true or false")
		return
	}
	*to = n.Value
}

func (v value) duration(to *time.Duration) {
	text, ok := v.node.(*ast.StringNode)
	if !ok {
		v.want("a length of time with its unit, such as 2s or 500ms")
		return
	}
	d, err := time.ParseDuration(text.Value)
	if err != nil {
		v.want("a length of time with its unit, such as 2s or 500ms")
		return
	}
	*to = d
}

func (v value) span(to *Range) {
	text, ok := v.node.(*ast.StringNode)
	if !ok {
		v.want("a span of time, such as 1ms..5ms or 5ms")
		return
	}
	low, high, both := strings.Cut(text.Value, "..")
	if !both {
		high = low
	}
	var err, err2 error
	to.Min, err = time.ParseDuration(low)
	to.Max, err2 = time.ParseDuration(high)
	if err != nil || err2 != nil {
		v.want("a span of time, such as 1ms..5ms or 5ms")
	}
}

func (v value) names(to *[]string) {
	for _, element := range v.elements("[c0]") {
		var name string
		element.text(&name)
		*to = append(*to, name)
	}
}

// want reports a value of the wrong type.
func (v value) want(what string) {
	v.p.fail(v.pos, "%s: want %s, found %s", v.name(), what, found(v.node))
}

func (v value) name() string {
	if v.path == "" {
		return "the scenario"
	}
	return v.path
}

// found describes a node in words.
func found(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return strconv.Quote(n.Value)
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.Token.Value
	case *ast.NullNode, nil:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode:
		return "keys with values"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return "an anchor, alias, merge or tag, which the format does not have"
	}
	return "something else"
}

// nodePos is the start of a node. The YAML library gives a block mapping the position of its
// first colon.
func (p *reader) nodePos(node ast.Node) faults.Pos {
	if n, ok := node.(*ast.MappingNode); ok && !n.IsFlowStyle && len(n.Values) > 0 {
		node = n.Values[0].Key
	}
	if node == nil {
		return p.at[""]
	}
	return p.tokenPos(node.GetToken())
}

// join makes the path of a key in a group.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// parent is the path of the group that a field or element is in.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
