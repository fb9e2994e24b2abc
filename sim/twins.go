package sim

import "strconv"

// class is all that the world can tell of a connection: when it was dialled,
// and what went over it since. Connections that a process dials to one node
// in one instant are twins, of one class; which of the goroutines behind them
// came first is a race. As long as the same goes over them they stay twins:
// what arrives for them arrives in one event. What differs parts them, in the
// order of its content. Should a node answer twins differently, then which of
// two goroutines gets which answer is a race of the code under test: two that
// do the same in one instant.
type class struct {
	name  string // "#3", as the trace has it
	order int64  // sorts the classes of a link, each has its own
	alone bool   // it never had a twin, and never will
	next  map[step]*class
}

// step is one thing that goes over a connection.
type step struct {
	dir  Direction
	at   int64
	end  bool // the end of the stream
	data string
}

// classOf is the class of a connection that is accepted now.
func (l *link) classOf() *class {
	if now := l.w.time.now(); l.newest == nil || l.newestAt != now {
		l.dials++
		l.newest, l.newestAt = l.newClass("#"+strconv.Itoa(l.dials)), now
		l.newest.alone = true
		return l.newest
	}
	l.newest.alone = false
	return l.newest
}

func (l *link) newClass(name string) *class {
	l.classes++
	return &class{name: name, order: l.classes}
}

// after is the class of a connection over which b goes next.
func (k *class) after(l *link, dir Direction, b []byte) *class {
	if k.alone {
		return k
	}
	s := step{dir, l.w.time.now(), b == nil, string(b)}
	next := k.next[s]
	if next == nil {
		next = l.newClass(k.child())
		if k.next == nil {
			k.next = map[step]*class{}
		}
		k.next[s] = next
	}
	return next
}

// child is the name of the next class that comes of this one. The first keeps
// its name.
func (k *class) child() string {
	if len(k.next) == 0 {
		return k.name
	}
	return k.name + "." + strconv.Itoa(len(k.next)+1)
}
