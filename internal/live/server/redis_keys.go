package server

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locksim/faults"
)

// Key is a key of a Redis at one moment.
type Key struct {
	// Name is the key, Type what TYPE says, such as "string" or "hash".
	Name, Type string
	// Value is the value of a string.
	Value string
	// Members are the elements of a list or a set, the fields and values of a hash in turn, or the members and scores of a
	// sorted set in turn. It is nil for a string and for other types.
	Members []string
	// Expires is when the key expires by the wall clock of the server, to the millisecond. It is zero if it does not.
	Expires time.Time
	// TTL is the time until then, on the same clock; 0 if the key does not expire.
	TTL time.Duration
}

// keysScript reads all keys at one moment.
//
//go:embed keys.lua
var keysScript string

// evictScript deletes keys at one moment.
//
//go:embed evict.lua
var evictScript string

// Keys are the keys of database 0 at one moment, sorted by name. They count as used by that, which the next eviction by
// LRU may notice after a second. It fails while the server is down or stalled.
func (s *Server) Keys(ctx context.Context) (all []Key, err error) {
	if s.admin == nil {
		return nil, s.unable("it is no Redis")
	}
	found, err := s.admin.Do(ctx, "eval_ro", keysScript, 0).Slice()
	if err != nil {
		return nil, fmt.Errorf("%s: read the keys: %w", s.name, err)
	}
	for _, f := range found {
		f := f.([]any) // the script makes them
		k := Key{Name: f[0].(string), Type: f[1].(string)}
		if at := f[2].(int64); at >= 0 {
			k.Expires, k.TTL = time.UnixMilli(at), time.Duration(f[3].(int64))*time.Millisecond
		}
		var content []string
		for _, c := range f[4].([]any) {
			content = append(content, c.(string))
		}
		if k.Type == "string" {
			k.Value = content[0]
		} else {
			k.Members = content
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Evict deletes so many keys of database 0, as Redis does when its memory is full, and returns their names; there may
// be fewer. A volatile policy deletes only keys with a TTL. Redis draws five keys and deletes the best of them; this
// considers all, and draws among equal ones. The time of the last use is exact to a second. A replica deletes none.
func (s *Server) Evict(ctx context.Context, policy faults.EvictionPolicy, keys int) (deleted []string, err error) {
	if s.admin == nil {
		return nil, s.unable("it is no Redis, and deletes nothing for lack of memory")
	}
	if s.isReplica(ctx) {
		return nil, nil
	}
	deleted, err = s.admin.Do(ctx, "eval", evictScript, 0, string(policy), keys, rand.Int32()).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("%s: evict keys: %w", s.name, err)
	}
	return deleted, nil
}

// Flush deletes all keys of all databases, on the replicas too, or all scripts. A replica refuses the former.
func (s *Server) Flush(ctx context.Context, what faults.FlushWhat) error {
	if what == faults.FlushScripts {
		return s.ask(ctx, "script", "flush", "sync")
	}
	return s.ask(ctx, "flushall", "sync")
}

// EditKeys does what an operator does to those of these keys that are there, and have a value or fields, and returns
// them. A replica has none.
func (s *Server) EditKeys(ctx context.Context, how faults.Edit, keys []string) (edited []string, err error) {
	if s.admin == nil {
		return nil, s.unable("it is no Redis, and a live run edits only the keys of one")
	}
	if s.isReplica(ctx) {
		return nil, nil
	}
	for _, key := range keys {
		kind, err := s.admin.Type(ctx, key).Result()
		if err == nil && kind != "string" && kind != "hash" {
			continue
		}
		if err == nil && how == faults.EditOverwrite {
			err = s.admin.Set(ctx, key, faults.Operator, 0).Err()
		} else if err == nil {
			err = s.admin.Del(ctx, key).Err()
		}
		if err != nil {
			return edited, fmt.Errorf("%s: %s the key %s: %w", s.name, how, key, err)
		}
		edited = append(edited, key)
	}
	return edited, nil
}

// RefuseWrites makes a Redis answer writes with READONLY, as a replica does: it is one, of a primary that does not
// answer. It serves reads, and hides keys that have expired.
func (s *Server) RefuseWrites(ctx context.Context) error {
	if s.Kind() == Cluster {
		return s.unable("a node of a Redis Cluster is told by the others whom it follows, and refuses REPLICAOF")
	}
	return s.ask(ctx, "replicaof", "127.0.0.1", "1") // nothing listens there
}

// AcceptWrites ends [Server.RefuseWrites]. A replica follows its primary again.
func (s *Server) AcceptWrites(ctx context.Context) error {
	s.mu.Lock()
	leader := s.leader
	s.mu.Unlock()
	if leader == "" {
		return s.ask(ctx, "replicaof", "no", "one")
	}
	host, port, _ := strings.Cut(leader, ":")
	return s.ask(ctx, "replicaof", host, port)
}
