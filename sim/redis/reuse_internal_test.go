package redis

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/alicebob/miniredis/v2"
)

// fieldsOf are the names of a struct's fields.
func fieldsOf(v reflect.Value) []string {
	var all []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		if len(f.Index) == 1 {
			all = append(all, f.Name)
		}
	}
	return all
}

// dirty runs commands that leave something in each field of a miniredis that they can reach.
func dirty(t *testing.T, n *Server) {
	t.Helper()
	for _, args := range [][]string{
		{"SET", "s", "v", "PX", "5000"}, {"HSET", "h", "f", "v"}, {"HEXPIRE", "h", "100", "FIELDS", "1", "f"},
		{"RPUSH", "l", "v"},
		{"SADD", "set", "v"}, {"PFADD", "hll", "v"}, {"ZADD", "z", "1", "v"}, {"XADD", "x", "*", "f", "v"},
		{"XGROUP", "CREATE", "x", "g", "0"}, {"SELECT", "3"}, {"SET", "k", "v"}, {"SWAPDB", "1", "3"}, {"SELECT", "0"},
		{"SCRIPT", "LOAD", "return 1"}, {"EVAL", "return redis.call('SET', 'e', '1')", "0"}, {"SPOP", "set"},
		{"PUBLISH", "c", "m"},
		{"CLIENT", "SETNAME", "n"}, {"MULTI"}, {"SET", "m", "v"}, {"EXEC"}, {"WATCH", "w"},
	} {
		if reply := n.data.ask(0, args...); len(reply) == 0 || reply[0] == '-' {
			t.Fatalf("%q: %q", args, reply)
		}
	}
	n.data.mini.FastForward(time.Second)
}

// A miniredis that is used again has nothing of the run before. Each of its fields has a check here: a field that a new
// version adds makes the test fail, until it is known what the field keeps.
func TestRenewedMiniredisIsClean(t *testing.T) {
	n := loneNode(t)
	m := n.data.mini
	dirty(t, n)
	if !renew(m) {
		t.Fatal("it cannot be used again: has a new version of miniredis other fields?")
	}
	fresh := miniredis.NewMiniRedis()
	if err := start(fresh); err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()

	mini := reflect.ValueOf(m).Elem()
	anything := func(reflect.Value) bool { return true }
	zero := reflect.Value.IsZero
	empty := func(v reflect.Value) bool { return v.Len() == 0 }
	check := func(what string, v reflect.Value, clean map[string]func(reflect.Value) bool) {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(clean)), slices.Sorted(slices.Values(fieldsOf(v)))); diff != "" {
			t.Errorf("%s has other fields than those that are known to be clean (-known +has):\n%s", what, diff)
		}
		for name, is := range clean {
			if f := v.FieldByName(name); f.IsValid() && !is(f) {
				t.Errorf("%s.%s is not clean: %v", what, name, f)
			}
		}
	}
	check("Miniredis", mini, map[string]func(reflect.Value) bool{
		"Mutex": zero, "nextPreHook": zero, "ip": zero, "port": zero, "passwords": empty, "selectedDB": zero,
		"scripts":  empty,
		"clockTTL": zero, "lastTick": zero, "subscribers": empty,
		"srv": anything, "dbs": anything, // see below
		"signal":    anything, // it has waiters only during a blocking command, which miniredis never gets
		"now":       anything, // a new server sets it
		"rand":      anything, // likewise
		"Ctx":       func(reflect.Value) bool { return m.Ctx.Err() == nil },
		"CtxCancel": anything,
	})
	for at := mini.FieldByName("dbs").MapRange(); at.Next(); {
		check("RedisDB", at.Value().Elem(), map[string]func(reflect.Value) bool{
			"master":     anything,
			"id":         func(v reflect.Value) bool { return v.Int() == at.Key().Int() },
			"keyVersion": anything, // WATCH compares it with itself
			"keys":       empty, "stringKeys": empty, "hashKeys": empty, "listKeys": empty, "setKeys": empty, "hllKeys": empty,
			"sortedsetKeys": empty, "streamKeys": empty, "ttl": empty, "hashTTLs": empty, "lru": empty,
		})
	}
	other := reflect.ValueOf(fresh.Server()).Elem()
	check("Server", reflect.ValueOf(m.Server()).Elem(), map[string]func(reflect.Value) bool{
		"l": zero, "preHook": zero, "mu": zero,
		"cmds":      func(v reflect.Value) bool { return v.Len() == other.FieldByName("cmds").Len() },
		"peers":     anything, // those of start, whose goroutines end in their own time
		"wg":        anything, // likewise
		"infoConns": func(v reflect.Value) bool { return v.Int() == other.FieldByName("infoConns").Int() },
		"infoCmds":  zero,
	})
}
