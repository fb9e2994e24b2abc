package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Field is one field of an action.
type Field struct {
	// Key is what a scenario file calls it, such as "for".
	Key string
	// Holds is what it holds, and where.
	Holds Holding
	// Doc is a phrase that says what for: "whose timers are late".
	Doc string
}

// Needed reports whether a scenario file must have the field.
func (f Field) Needed() bool { return f.Holds.absent() == "" }

// Absent says in words what it means to leave the field out. It is empty where a
// file must have it.
func (f Field) Absent() string { return f.Holds.absent() }

// Text is what the field holds, as a file writes it; empty for nothing.
func (f Field) Text() string { return f.Holds.text() }

// Example is the field as a file may write it: "by: 2s".
func (f Field) Example() string { return f.Key + ": " + f.Holds.example() }

// Domain says in words what the field may hold.
func (f Field) Domain() string { return f.Holds.domain() }

// Holding is what a field holds: a [Name], [Names], a [Word], a [Count], a
// [Deviation], a [Length] or a [Offset].
type Holding interface {
	text() string
	example() string
	domain() string
	absent() string
	fill() // in the default for nothing
	problem(f Field) error
}

// Role is who may be named: one sort of participants, or several.
type Role int

// The sorts of participants.
const (
	Clients      Role = 1 << iota // c0, c1, …
	Servers                       // r0, r1, …, their replicas, and servers of other kinds
	Store                         // s0
	Family                        // r0 and its replicas, one of which is the primary
	Watchers                      // sen0, sen1, …, the Sentinels
	ClusterNodes                  // rc0, rc1, …, the nodes of a Redis Cluster
	Members                       // e0, z0, …, servers of a cluster with a leader
)

// Anybody is everybody who can be at an end of a link.
const Anybody = Clients | Servers | Store

// Has reports whether one of another role is among these.
func (r Role) Has(other Role) bool { return r&other != 0 }

// String is "a client", "a client or a server".
func (r Role) String() string {
	var sorts []string
	for i, sort := range []string{"a client", "a server", "the store", "r0 or one of its replicas", "a Sentinel",
		"a node of a Redis Cluster", "a member of a cluster"} {
		if r.Has(1 << i) {
			sorts = append(sorts, sort)
		}
	}
	return orList(sorts)
}

func (r Role) example() string {
	switch {
	case r.Has(Clients):
		return "c0"
	case r.Has(Servers):
		return "r0"
	case r.Has(Family):
		return FirstReplica
	case r.Has(Watchers):
		return "sen0"
	case r.Has(ClusterNodes):
		return "rc1"
	case r.Has(Members):
		return "e0"
	}
	return "s0"
}

// Name is one process, server or store that the fault names.
type Name struct {
	To   *string
	Role Role
	// Default is used where no name is given. Empty means that a name is required.
	Default string
}

func (n Name) text() string    { return *n.To }
func (n Name) example() string { return cmp.Or(n.Default, n.Role.example()) }
func (n Name) domain() string  { return n.Role.String() }
func (n Name) absent() string  { return n.Default }
func (n Name) fill()           { *n.To = cmp.Or(*n.To, n.Default) }

func (n Name) problem(f Field) error {
	if *n.To == "" && n.Default == "" {
		return wrong(f.Key, "no %s is named: say %s, such as %s", f.Key, f.Doc, n.example())
	}
	return nil
}

// Names are several of them, each named once.
type Names struct {
	To   *[]string
	Role Role
	// Side says whether they are at the ends of links.
	Side Side
	// Default says in words who is meant where no name is given. Empty means that
	// a name is required.
	Default string
}

// Side is one of the two sides of a fault of the network.
type Side int

// The sides.
const (
	NoSide Side = iota
	Near        // the key between
	Far         // the key and
)

func (n Names) text() string {
	if len(*n.To) == 0 {
		return ""
	}
	return "[" + strings.Join(*n.To, ", ") + "]"
}

func (n Names) example() string {
	if n.Side == Far {
		return "[r0]"
	}
	return "[" + n.Role.example() + "]"
}

func (n Names) domain() string { return "a list, each of them " + n.Role.String() }
func (n Names) absent() string { return n.Default }
func (n Names) fill()          {}

func (n Names) problem(f Field) error {
	if len(*n.To) == 0 && n.Default == "" {
		return wrong(f.Key, "no name is given: say %s, such as %s", f.Doc, n.example())
	}
	for i, name := range *n.To {
		at := fmt.Sprintf("%s[%d]", f.Key, i)
		if name == "" {
			return wrong(at, "there is no name: write one, such as %s", n.Role.example())
		}
		if slices.Contains((*n.To)[:i], name) {
			return wrong(at, "%s is named twice: name each once", name)
		}
	}
	return nil
}

// Word is one of several words. The default stands first.
type Word struct {
	To    *string
	Words []string
}

func (w Word) text() string    { return *w.To }
func (w Word) example() string { return w.Words[0] }
func (w Word) domain() string  { return orList(w.Words) }
func (w Word) absent() string  { return w.Words[0] }
func (w Word) fill()           { *w.To = cmp.Or(*w.To, w.Words[0]) }

func (w Word) problem(f Field) error {
	if *w.To == "" || slices.Contains(w.Words, *w.To) {
		return nil
	}
	return wrong(f.Key, "%q is not known: choose %s", *w.To, orList(w.Words))
}

func texts[T ~string](choices []T) []string {
	out := make([]string, len(choices))
	for i, c := range choices {
		out[i] = string(c)
	}
	return out
}

// Count is a number of things, of which there is one at least.
type Count struct {
	To    *int
	Most  int
	Units string
	// Default is how many are meant where no number is given. 0 means that one must
	// be, such as Such.
	Default, Such int
	// None says in words what it means to give no number, where there is no Default.
	// Empty means that one must be given.
	None string
}

func (c Count) text() string {
	if *c.To == 0 {
		return ""
	}
	return strconv.Itoa(*c.To)
}

func (c Count) example() string { return strconv.Itoa(cmp.Or(c.Such, c.Default)) }
func (c Count) domain() string  { return fmt.Sprintf("a number of %s, 1 to %d", c.Units, c.Most) }

func (c Count) absent() string {
	if c.Default == 0 {
		return c.None
	}
	return strconv.Itoa(c.Default)
}

func (c Count) fill() { *c.To = cmp.Or(*c.To, c.Default) }

func (c Count) problem(f Field) error {
	if *c.To == 0 && c.None != "" {
		return nil
	}
	if n := cmp.Or(*c.To, c.Default); n < 1 || n > c.Most {
		return wrong(f.Key, "%d is out of range: give 1 to %d %s", n, c.Most, c.Units)
	}
	return nil
}

// Deviation is by how much something is off, either way: any number but 0.
type Deviation struct {
	To          *int64
	Least, Most int64
	Units       string
	Such        int64 // for examples
}

func (d Deviation) text() string {
	if *d.To == 0 {
		return ""
	}
	return strconv.FormatInt(*d.To, 10)
}

func (d Deviation) example() string { return strconv.FormatInt(d.Such, 10) }

func (d Deviation) domain() string {
	return fmt.Sprintf("a number of %s, %d to %d, but not 0", d.Units, d.Least, d.Most)
}

func (d Deviation) absent() string { return "" }
func (d Deviation) fill()          {}

func (d Deviation) problem(f Field) error {
	if *d.To == 0 || *d.To < d.Least || *d.To > d.Most {
		return wrong(f.Key, "%d is out of range: give %d to %d %s, but not 0", *d.To, d.Least, d.Most, d.Units)
	}
	return nil
}

// Length is how long the fault lasts.
type Length struct {
	To *time.Duration
	// Ends says that it always ends by itself. Else 0 is until the world is healed at
	// the end of the workload.
	Ends bool
}

func (l Length) text() string    { return durationText(*l.To) }
func (l Length) example() string { return "15s" }
func (l Length) domain() string  { return "a length of time" }

func (l Length) absent() string {
	if l.Ends {
		return ""
	}
	return "until every client has ended its workload"
}

func (l Length) fill() {}

func (l Length) problem(f Field) error {
	if *l.To < 0 || *l.To == 0 && l.Ends {
		return wrong(f.Key, "%v is no length of time: give one such as %s", *l.To, l.example())
	}
	return nil
}

// Offset is by how much something is late, or a clock is off.
type Offset struct {
	To *time.Duration
	// Each says that many things are late by it, one after another.
	Each bool
	// EitherWay says that it may be negative as well, but not 0.
	EitherWay bool
	// None says in words what it means to leave it out. Empty means that it must be
	// there.
	None string
	// Unit is what it must be a whole number of. 0 means a nanosecond.
	Unit time.Duration
	Such time.Duration // for examples
}

func (d Offset) text() string    { return durationText(*d.To) }
func (d Offset) example() string { return d.Such.String() }

func (d Offset) domain() string {
	text := "a length of time"
	if d.EitherWay {
		text += ", also a negative one"
	}
	if d.Unit > 0 {
		text += ", in whole " + unitName(d.Unit)
	}
	return text
}

func (d Offset) absent() string { return d.None }
func (d Offset) fill()          {}

func (d Offset) problem(f Field) error {
	switch {
	case *d.To == 0 && d.None == "" && d.EitherWay:
		return wrong(f.Key, "%v is nothing: give a time such as %v or -%v", *d.To, d.Such, d.Such)
	case *d.To < 0 && !d.EitherWay, *d.To == 0 && d.None == "":
		return wrong(f.Key, "%v is no length of time: give one such as %v", *d.To, d.Such)
	case d.Unit > 0 && *d.To%d.Unit != 0:
		return wrong(f.Key, "%v is not a whole number of %s: the toxic counts no finer", *d.To, unitName(d.Unit))
	}
	return nil
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func unitName(unit time.Duration) string {
	if unit == time.Microsecond {
		return "microseconds"
	}
	return "milliseconds"
}

// orList is "a, b or c".
func orList(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s or %s", strings.Join(names[:last], ", "), names[last])
}
