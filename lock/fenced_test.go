package lock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/lock"
)

var fencedKind = kinds[1]

func TestTokensIncrease(t *testing.T) {
	bubble(t, fencedKind, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: time.Second})
		var last uint64
		for i := range 6 {
			lease := w.acquire(l)
			if lease.Token() <= last {
				w.Errorf("token %d after %d", lease.Token(), last)
			}
			last = lease.Token()
			switch i % 3 {
			case 0:
				w.release(lease)
			case 1:
				time.Sleep(time.Hour) // it expires
			case 2:
				w.node.Del(l.Key(resource)) // an administrator deletes it (F46)
			}
		}
	})
}

func TestOnlyGrantsTakeTokens(t *testing.T) {
	bubble(t, fencedKind, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Second})
		b, _ := w.lock(lock.Options{})
		first, second := w.acquire(a), w.acquire(b) // b tries several times
		if first.Token() != 1 || second.Token() != 2 {
			w.Errorf("tokens %d and %d, want 1 and 2", first.Token(), second.Token())
		}
	})
}

func TestTokenCounterHasNoTTL(t *testing.T) {
	bubble(t, fencedKind, func(w *world) {
		l, _ := w.lock(lock.Options{})
		w.acquire(l)
		counter := l.(*lock.Fenced).TokenKey(resource)
		if left := w.node.TTL(counter); left != 0 || !w.node.Exists(counter) {
			w.Errorf("counter %s expires in %v", counter, left)
		}
	})
}

func TestTokensSurviveScriptFlush(t *testing.T) {
	bubble(t, fencedKind, func(w *world) {
		l, _ := w.lock(lock.Options{})
		c, _ := w.client()
		for want := uint64(1); want <= 2; want++ {
			lease := w.acquire(l)
			if lease.Token() != want {
				w.Errorf("token %d, want %d", lease.Token(), want)
			}
			if err := c.ScriptFlush(w.Context()).Err(); err != nil {
				w.Fatal(err)
			}
			w.release(lease)
		}
	})
}

func TestBadCounterGrantsNothing(t *testing.T) {
	for _, counter := range []string{"-5", "9007199254740991", "9223372036854775807", "x"} {
		t.Run(counter, func(t *testing.T) {
			bubble(t, fencedKind, func(w *world) {
				l, _ := w.lock(lock.Options{})
				key := l.(*lock.Fenced).TokenKey(resource)
				if err := w.node.Set(key, counter); err != nil {
					w.Fatal(err)
				}
				_, err := l.Acquire(w.Context(), resource)
				if err == nil || errors.Is(err, lock.ErrOutcomeUnknown) || !strings.HasPrefix(err.Error(), "acquire order:42: ") {
					w.Errorf("error %v, want a refusal", err)
				}
				w.wantFree(l)
			})
		})
	}
}

func TestSingleMintsNoToken(t *testing.T) {
	bubble(t, kinds[0], func(w *world) {
		l, _ := w.lock(lock.Options{})
		if lease := w.acquire(l); lease.Token() != 0 {
			w.Errorf("token %d", lease.Token())
		}
	})
}
