package lock_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/lock"
)

func TestInvalidOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    lock.Options
		want string
	}{
		{"negative TTL", lock.Options{TTL: -time.Second}, "TTL -1s is negative"},
		{"TTL below a millisecond", lock.Options{TTL: 200 * time.Microsecond},
			"TTL 200µs is not a whole number of milliseconds, the unit of Redis: use 1ms or more"},
		{"TTL with a fraction", lock.Options{TTL: 1500 * time.Microsecond},
			"TTL 1.5ms is not a whole number of milliseconds, the unit of Redis: use 2ms or more"},
		{"negative backoff", lock.Options{Backoff: lock.Backoff{Min: -1}}, "Backoff -1ns to 0s is negative"},
		{"reversed backoff", lock.Options{Backoff: lock.Backoff{Min: 2, Max: 1}}, "Backoff.Min 2ns is above Backoff.Max 1ns"},
		{"negative release timeout", lock.Options{ReleaseTimeout: -1}, "ReleaseTimeout -1ns is negative"},
		{"no way of waiting", lock.Options{Waiting: 7}, "Waiting 7 is none: use WaitPoll or WaitNotify"},
		{"brace in the prefix", lock.Options{KeyPrefix: "app{1}:"},
			`KeyPrefix "app{1}:" holds a brace: braces mark the part of a key that chooses its cluster slot`},
		{"two mistakes", lock.Options{TTL: -1, ReleaseTimeout: -1}, "TTL -1ns is negative\nReleaseTimeout -1ns is negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.o.Validate(); err == nil || err.Error() != tc.want {
				t.Errorf("Validate: %v, want %s", err, tc.want)
			}
			everyKind(t, func(w *world) {
				c, _ := w.client()
				_, err := w.kind.make(c, tc.o)
				if want := "make a " + w.kind.name + " lock: " + tc.want; err == nil || err.Error() != want {
					w.Errorf("error %v, want %s", err, want)
				}
			})
		})
	}
}

func TestValidOptions(t *testing.T) {
	for _, o := range []lock.Options{
		{},
		{TTL: time.Millisecond},
		{Backoff: lock.Backoff{Min: time.Second}}, // above the default of Max
		{Backoff: lock.Backoff{Max: time.Millisecond}},
		{Backoff: lock.Backoff{Min: time.Second, Max: time.Second}},
	} {
		everyKind(t, func(w *world) {
			l, _ := w.lock(o)
			w.release(w.acquire(l))
		})
	}
}

func TestNoClient(t *testing.T) {
	for _, k := range kinds {
		if _, err := k.make(nil, lock.Options{}); err == nil || !strings.HasSuffix(err.Error(), "no Redis client") {
			t.Errorf("%s: error %v", k.name, err)
		}
	}
}

func TestEntropyThatRunsOut(t *testing.T) {
	everyKind(t, func(w *world) {
		c, _ := w.client()
		if _, err := w.kind.make(c, lock.Options{Entropy: strings.NewReader("short")}); err == nil {
			w.Error("a lock was made without a seed")
		}
		l, _ := w.lock(lock.Options{Entropy: strings.NewReader("0123456789abcdef")}) // enough only for the seed
		if _, err := l.Acquire(w.Context(), resource); err == nil {
			w.Error("a lease was granted without an owner id")
		}
	})
}

func TestOwnerIdsComeFromEntropy(t *testing.T) {
	everyKind(t, func(w *world) {
		seed, first, second := "seed of jitter..", "0123456789abcdef", "ABCDEFGHIJKLMNOP"
		l, _ := w.lock(lock.Options{Entropy: bytes.NewBufferString(seed + first + second)})
		for _, want := range []string{"30313233343536373839616263646566", "4142434445464748494a4b4c4d4e4f50"} {
			lease := w.acquire(l)
			if owner := w.owner(l); owner != want {
				w.Errorf("owner id %q, want %q", owner, want)
			}
			w.release(lease)
		}
	})
}

func TestKeys(t *testing.T) {
	bubble(t, fencedKind, func(w *world) {
		l, _ := w.lock(lock.Options{KeyPrefix: "app:"})
		if got := l.Key(resource); got != "app:{order:42}" {
			w.Errorf("key %q", got)
		}
		if got := l.(*lock.Fenced).TokenKey(resource); got != "app:{order:42}:token" {
			w.Errorf("token key %q", got)
		}
		w.acquire(l)
		if keys := w.node.Keys(); len(keys) != 2 || keys[0] != "app:{order:42}" || keys[1] != "app:{order:42}:token" {
			w.Errorf("keys on the node: %q", keys)
		}
	})
}

func TestResourceNames(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		for _, name := range []string{"", "{", "}", "a{b}c"} {
			if _, err := l.Acquire(w.Context(), name); err == nil {
				w.Errorf("resource %q was accepted", name)
			}
		}
		for _, name := range []string{"a", "a b", "ü", "a:token", "\x00"} {
			if _, err := l.Acquire(w.Context(), name); err != nil {
				w.Errorf("resource %q: %v", name, err)
			}
		}
	})
}
