package redis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dbKey identifies a key by its database and its name.
type dbKey struct {
	db  int
	key string
}

func compareKeys(a, b dbKey) int {
	return cmp.Or(cmp.Compare(a.db, b.db), strings.Compare(a.key, b.key))
}

// datum is the whole state of a key. It is a value: its slices are not
// modified.
type datum struct {
	kind string // the Redis name of the type; empty if the key does not exist
	// parts are the value: the one string; field, value, … of a hash in order of
	// the fields; a list's elements; a set's members in order; member, score, …
	// of a sorted set in order of the members; ID, n and n fields and values for
	// each entry of a stream.
	parts []string
	// until is when the key expires, in the wall time of the node that set it,
	// counted from the start of the run; never if it does not.
	until time.Duration
	// fields is when each field of a hash expires. It is nil if all of them
	// expire with the key.
	fields []time.Duration
}

// never is the expiry of a key without one.
const never = time.Duration(1) << 62

// absent is a key that does not exist.
var absent = datum{until: never}

func (d datum) exists() bool { return d.kind != "" }

// sameValue compares two keys without their expiry.
func (d datum) sameValue(e datum) bool { return d.kind == e.kind && slices.Equal(d.parts, e.parts) }

func (d datum) equal(e datum) bool {
	return d.until == e.until && d.sameValue(e) && slices.Equal(d.fields, e.fields)
}

// ends is the first instant after after at which the key, or a field of it,
// expires.
func (d datum) ends(after time.Duration) time.Duration {
	end := never
	if d.until > after {
		end = d.until
	}
	for _, until := range d.fields {
		if until > after {
			end = min(end, until)
		}
	}
	return end
}

// at is the key at an instant of a wall clock.
func (d datum) at(wall time.Duration) datum {
	if d.until <= wall {
		return absent
	}
	return d
}

// String is a string as it is, a hash as "field=value" for each field, in the
// order of their names, and any other type as its parts, joined by spaces.
func (d datum) String() string {
	if d.kind != "hash" {
		return strings.Join(d.parts, " ")
	}
	pairs := make([]string, 0, len(d.parts)/2)
	for i := 0; i+1 < len(d.parts); i += 2 {
		pairs = append(pairs, d.parts[i]+"="+d.parts[i+1])
	}
	return strings.Join(pairs, " ")
}

// members are the elements of a list or a set, and the fields of a hash.
func (d datum) members() []string {
	switch d.kind {
	case "list", "set":
		return slices.Clone(d.parts)
	case "hash", "zset":
		var out []string
		for i := 0; i < len(d.parts); i += 2 {
			out = append(out, d.parts[i])
		}
		return out
	}
	return nil
}

// read reads a key from miniredis, which has the node's wall time. Of a stream
// it reads only the entries; a HyperLogLog counts as absent.
func (s *dataset) read(p dbKey) datum {
	db := s.mini.DB(p.db)
	d := datum{kind: db.Type(p.key), until: never}
	switch d.kind {
	case "string":
		v, _ := db.Get(p.key)
		d.parts = []string{v}
	case "hash":
		d.parts, d.fields = s.readHash(p)
	case "list":
		list, _ := db.List(p.key)
		d.parts = slices.Clone(list)
	case "set":
		d.parts, _ = db.Members(p.key)
	case "zset":
		d.parts = s.readSortedSet(p)
	case "stream":
		d.parts = s.readStream(p)
	default:
		return absent
	}
	switch ttl := db.TTL(p.key); {
	case ttl < 0: // miniredis drops it at the next tick
		return absent
	case ttl > 0:
		d.until = s.shown + ttl
	}
	return d
}

func (s *dataset) readHash(p dbKey) (parts []string, fields []time.Duration) {
	db := s.mini.DB(p.db)
	names, _ := db.HKeys(p.key)
	some := false
	for _, name := range names {
		parts = append(parts, name, db.HGet(p.key, name))
		until := never
		if ttl := db.HTTL(p.key, name); ttl != 0 {
			until, some = s.shown+ttl, true
		}
		fields = append(fields, until)
	}
	if !some {
		return parts, nil
	}
	return parts, fields
}

func (s *dataset) readSortedSet(p dbKey) []string {
	scores, _ := s.mini.DB(p.db).SortedSet(p.key)
	members := make([]string, 0, len(scores))
	for m := range scores {
		members = append(members, m)
	}
	slices.Sort(members)
	parts := make([]string, 0, 2*len(members))
	for _, m := range members {
		parts = append(parts, m, strconv.FormatFloat(scores[m], 'g', -1, 64))
	}
	return parts
}

func (s *dataset) readStream(p dbKey) (parts []string) {
	entries, _ := s.mini.DB(p.db).Stream(p.key)
	for _, e := range entries {
		parts = append(append(parts, e.ID, strconv.Itoa(len(e.Values))), e.Values...)
	}
	return parts
}

// put sets miniredis's key to the datum, without what has expired by the node's
// clock.
func (s *dataset) put(p dbKey, d datum) {
	db := s.mini.DB(p.db)
	db.Del(p.key)
	d = d.at(s.shown)
	switch d.kind {
	case "string":
		_ = db.Set(p.key, d.parts[0]) // the key is new: it has no other type
	case "hash":
		s.putHash(p, d)
	case "list":
		_, _ = db.Push(p.key, d.parts...)
	case "set":
		_, _ = db.SetAdd(p.key, d.parts...)
	case "zset":
		for i := 0; i+1 < len(d.parts); i += 2 {
			score, _ := strconv.ParseFloat(d.parts[i+1], 64) // it was written by FormatFloat
			_, _ = db.ZAdd(p.key, score, d.parts[i])
		}
	case "stream":
		s.putStream(p, d.parts)
	}
	if d.until != never {
		db.SetTTL(p.key, d.until-s.shown)
	}
}

func (s *dataset) putHash(p dbKey, d datum) {
	db := s.mini.DB(p.db)
	for i := 0; i+1 < len(d.parts); i += 2 {
		until := never
		if d.fields != nil {
			until = d.fields[i/2]
		}
		if until <= s.shown {
			continue
		}
		db.HSet(p.key, d.parts[i], d.parts[i+1])
		if until != never {
			db.HExpire(p.key, d.parts[i], until-s.shown)
		}
	}
}

func (s *dataset) putStream(p dbKey, parts []string) {
	for len(parts) > 1 {
		count, _ := strconv.Atoi(parts[1])
		_, _ = s.mini.DB(p.db).XAdd(p.key, parts[0], parts[2:2+count])
		parts = parts[2+count:]
	}
}
