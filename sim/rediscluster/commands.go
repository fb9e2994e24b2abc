package rediscluster

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// commandTable is what Redis 7.0.15 answers to COMMAND, for the commands that the servers of the world have, and those
// of the cluster: one a line, each part a word. *, ~ and % begin an array, a set and a map, and + is a status. Of a
// text with spaces each is a ·.
//
//go:embed commands.txt
var commandTable string

// command is what a node knows of a command.
type command struct {
	name        string
	arity       int // with the name; negative for at least as many
	flags       []string
	keys        []keySpec
	subcommands map[string]*command
}

// keySpec says where keys are, as Redis 7 has it.
type keySpec struct {
	keyword              string // that stands before the first key; "" for an index
	from                 int    // where the keyword is looked for, or the index
	number               bool   // their number is given
	numberAt, first      int    // from the index
	last, step, limit    int
	incomplete, notFound bool
}

func (c *command) has(flag string) bool {
	for _, f := range c.flags {
		if f == flag {
			return true
		}
	}
	return false
}

// writes reports whether Redis calls it a command that writes.
func (c *command) writes() bool { return c.has("write") }

// accepts reports whether it may have that many words, with its name.
func (c *command) accepts(words int) bool {
	return words == c.arity || c.arity < 0 && words >= -c.arity
}

// commands are all commands, by name.
var commands = sync.OnceValue(func() map[string]*command {
	all := map[string]*command{}
	for line := range strings.Lines(commandTable) {
		p := parser{words: strings.Fields(line)}
		v, _ := p.value().([]any)
		c := commandOf(v)
		all[c.name] = c
	}
	return all
})

// parser reads the words of one command.
type parser struct{ words []string }

func (p *parser) value() any {
	w := p.words[0]
	p.words = p.words[1:]
	size := func() int { n, _ := strconv.Atoi(w[1:]); return n }
	switch w[0] {
	case '*', '~':
		list := make([]any, size())
		for i := range list {
			list[i] = p.value()
		}
		return list
	case '%':
		m := map[string]any{}
		for range size() {
			key := p.value()
			m[fmt.Sprint(key)] = p.value()
		}
		return m
	case ':':
		return size()
	case '+':
		return w[1:]
	}
	return w
}

func commandOf(v []any) *command {
	c := &command{name: v[0].(string), arity: v[1].(int), flags: texts(v[2])}
	for _, k := range v[8].([]any) {
		c.keys = append(c.keys, keySpecOf(k.(map[string]any)))
	}
	for _, s := range v[9].([]any) {
		if c.subcommands == nil {
			c.subcommands = map[string]*command{}
		}
		sub := commandOf(s.([]any))
		_, name, _ := strings.Cut(sub.name, "|")
		c.subcommands[name] = sub
	}
	return c
}

func texts(list any) (out []string) {
	for _, x := range list.([]any) {
		out = append(out, x.(string))
	}
	return out
}

func keySpecOf(m map[string]any) (k keySpec) {
	for _, f := range texts(m["flags"]) {
		k.incomplete = k.incomplete || f == "incomplete"
		k.notFound = k.notFound || f == "not_key"
	}
	begin, find := m["begin_search"].(map[string]any), m["find_keys"].(map[string]any)
	spec := begin["spec"].(map[string]any)
	switch begin["type"] {
	case "index":
		k.from = spec["index"].(int)
	case "keyword":
		k.keyword, k.from = spec["keyword"].(string), spec["startfrom"].(int)
	default:
		k.incomplete = true
	}
	spec = find["spec"].(map[string]any)
	switch find["type"] {
	case "range":
		k.last, k.step, k.limit = spec["lastkey"].(int), spec["keystep"].(int), spec["limit"].(int)
	case "keynum":
		k.number, k.numberAt, k.first, k.step = true, spec["keynumidx"].(int), spec["firstkey"].(int), spec["keystep"].(int)
	default:
		k.incomplete = true
	}
	return k
}

// find is the command that args call, with its subcommand. It is nil if there is none, or if the number of arguments is
// wrong: the server answers that itself.
func find(args []string) *command {
	c := commands()[strings.ToLower(args[0])]
	if c != nil && c.subcommands != nil && len(args) > 1 {
		c = c.subcommands[strings.ToLower(args[1])]
	}
	if c == nil || !c.accepts(len(args)) {
		return nil
	}
	return c
}

// keysOf are the keys that a command names.
func (c *command) keysOf(args []string) (keys []string) {
	for _, k := range c.keys {
		keys = append(keys, k.in(args)...)
	}
	return keys
}

func (k keySpec) in(args []string) (keys []string) {
	first := k.from
	if k.keyword != "" {
		if first = k.after(args); first == 0 {
			return nil
		}
	}
	if k.notFound || first >= len(args) {
		return nil
	}
	last := first + k.last
	switch {
	case k.number:
		n, err := strconv.Atoi(args[min(first+k.numberAt, len(args)-1)])
		if err != nil || n <= 0 {
			return nil
		}
		first += k.first
		last = first + (n-1)*max(k.step, 1)
	case k.last < 0 && k.limit > 1:
		last = first + (len(args)-first)/k.limit + k.last
	case k.last < 0:
		last = len(args) + k.last
	}
	if last >= len(args) || first > last {
		return nil
	}
	for i := first; i <= last; i += max(k.step, 1) {
		keys = append(keys, args[i])
	}
	return keys
}

// after is the index after the keyword, 0 if it is not there.
func (k keySpec) after(args []string) int {
	i, step, end := k.from, 1, len(args)
	if k.from < 0 {
		i, step, end = len(args)+k.from, -1, 0
	}
	for ; i > 0 && i < len(args) && i != end; i += step {
		if strings.EqualFold(args[i], k.keyword) {
			return i + 1
		}
	}
	return 0
}

// commandReplies are the answers to COMMAND, in RESP2 and RESP3.
var commandReplies = sync.OnceValue(func() (replies [2][]byte) {
	lines := strings.Split(strings.TrimSpace(commandTable), "\n")
	for i, resp3 := range []bool{false, true} {
		b := fmt.Appendf(nil, "*%d\r\n", len(lines))
		for _, w := range strings.Fields(commandTable) {
			b = appendWord(b, w, resp3)
		}
		replies[i] = b
	}
	return replies
})

func appendWord(b []byte, w string, resp3 bool) []byte {
	switch w[0] {
	case '~', '%':
		if resp3 {
			break
		}
		n, _ := strconv.Atoi(w[1:])
		if w[0] == '%' {
			n *= 2
		}
		return fmt.Appendf(b, "*%d\r\n", n)
	case '*', ':', '+':
	default:
		w = strings.ReplaceAll(w, "·", " ")
		return fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return append(append(b, w...), "\r\n"...)
}
