package sim

import "strconv"

// class is all that identifies a connection: when it was dialled, and its
// traffic since. Connections that a process dials to one node in one instant
// are twins, of one class; which of the goroutines behind them was first is a
// race. While their traffic is equal they stay twins: what arrives on them
// arrives in one event. Different traffic separates them, in the order of its
// content. If a node answers twins differently, then which of two goroutines
// gets which answer is a race of the code under test: both do the same in one
// instant.
type class struct {
	name  string // "#3", as in the trace
	order int64  // sorts the classes of a link, each has its own
	alone bool   // it never has a twin
	next  map[traffic]*class
}

// traffic is one message on a connection.
type traffic struct {
	dir  Direction
	at   int64
	end  bool // the end of the stream
	data string
}

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

// after is the class of a connection that transfers b next.
func (k *class) after(l *link, dir Direction, b []byte) *class {
	if k.alone {
		return k
	}
	s := traffic{dir, l.w.time.now(), b == nil, string(b)}
	next := k.next[s]
	if next == nil {
		next = l.newClass(k.child())
		if k.next == nil {
			k.next = map[traffic]*class{}
		}
		k.next[s] = next
	}
	return next
}

// child is the name of the next class derived from this one. The first keeps
// its name.
func (k *class) child() string {
	if len(k.next) == 0 {
		return k.name
	}
	return k.name + "." + strconv.Itoa(len(k.next)+1)
}
