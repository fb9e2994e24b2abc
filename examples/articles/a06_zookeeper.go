package articles

import (
	"errors"
	"path"
	"sort"

	"github.com/go-zookeeper/zk"
)

// queue is recipe A6: an ephemeral node with a number, under a parent of the lock. The one with the lowest number
// has the lock, and each other one watches the one before it. The text promises that one client has the lock at a
// time, in the order of their numbers, that a crash frees it with the session, and that no client deletes another's
// node.
type queue struct {
	conn   *zk.Conn
	parent string
	node   string
}

// Open makes the parent, once.
func (l *queue) Open() error {
	_, err := l.conn.Create(l.parent, nil, 0, zk.WorldACL(zk.PermAll))
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// Lock waits until the node is the first.
func (l *queue) Lock() (err error) {
	l.node, err = l.conn.Create(l.parent+"/lock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	for {
		names, _, err := l.conn.Children(l.parent)
		if err != nil {
			return err
		}
		sort.Strings(names)
		if names[0] == path.Base(l.node) {
			return nil
		}
		before := ""
		for i, name := range names {
			if name == path.Base(l.node) {
				before = names[i-1]
			}
		}
		there, _, gone, err := l.conn.ExistsW(path.Join(l.parent, before))
		if err != nil {
			return err
		}
		if there {
			<-gone
		}
	}
}

// Unlock deletes the node.
func (l *queue) Unlock() error { return l.conn.Delete(l.node, -1) }
