package redis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// place is where a key is: its database and its name.
type place struct {
	db  int
	key string
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.db, b.db), strings.Compare(a.key, b.key))
}

// datum is all that there is to know of a key. It is a value: nobody changes
// what its slices hold.
type datum struct {
	kind string // the type, by its Redis name; empty where there is no key
	// parts are the value: the one string; field, value, … of a hash in order of
	// the fields; a list's elements; a set's members in order; member, score, …
	// of a sorted set in order of the members; ID, n and n fields and values for
	// each entry of a stream.
	parts []string
	// until is when the key expires, in the wall time of the node that set it,
	// counted from the start of the run; never where it does not.
	until time.Duration
	// fields says until when each field of a hash lives. It is nil where all of
	// them live as long as the key.
	fields []time.Duration
}

// never is the expiry of a key that has none.
const never = time.Duration(1) << 62

// gone is a key that is not there.
var gone = datum{until: never}

func (d datum) exists() bool { return d.kind != "" }

// sameValue compares two keys without their expiry.
func (d datum) sameValue(e datum) bool { return d.kind == e.kind && slices.Equal(d.parts, e.parts) }

func (d datum) equal(e datum) bool {
	return d.until == e.until && d.sameValue(e) && slices.Equal(d.fields, e.fields)
}

// ends is the first instant after another at which the key, or a field of it,
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

// at is what is left of the key at an instant of a wall clock.
func (d datum) at(wall time.Duration) datum {
	if d.until <= wall {
		return gone
	}
	return d
}

// String is a string as it is, a hash as "field=value" for each field, in the
// order of their names, and another type as its parts; with spaces between.
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

// read takes a key from miniredis, which knows the node's wall time. Of a
// stream it reads the entries; HyperLogLogs it takes for absent.
func (s *dataset) read(p place) datum {
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
		return gone
	}
	switch ttl := db.TTL(p.key); {
	case ttl < 0: // miniredis drops it with the next look at the clock
		return gone
	case ttl > 0:
		d.until = s.shown + ttl
	}
	return d
}

func (s *dataset) readHash(p place) (parts []string, fields []time.Duration) {
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

func (s *dataset) readSortedSet(p place) []string {
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

func (s *dataset) readStream(p place) (parts []string) {
	entries, _ := s.mini.DB(p.db).Stream(p.key)
	for _, e := range entries {
		parts = append(append(parts, e.ID, strconv.Itoa(len(e.Values))), e.Values...)
	}
	return parts
}

// put makes miniredis's key what the datum says, as far as it lives by the
// node's clock.
func (s *dataset) put(p place, d datum) {
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

func (s *dataset) putHash(p place, d datum) {
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

func (s *dataset) putStream(p place, parts []string) {
	for len(parts) > 1 {
		count, _ := strconv.Atoi(parts[1])
		_, _ = s.mini.DB(p.db).XAdd(p.key, parts[0], parts[2:2+count])
		parts = parts[2+count:]
	}
}
