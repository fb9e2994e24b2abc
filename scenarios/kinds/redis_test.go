package kinds_test

import (
	"slices"
	"testing"

	"locksim/scenarios/kinds"
)

func TestRedisOf(t *testing.T) {
	for _, name := range slices.Concat(kinds.Names(), kinds.Specimens()) {
		k, err := kinds.Find(name)
		if n, ok := kinds.RedisOf(name); err != nil || !ok || n != k.Redis || n < 1 {
			t.Errorf("%s needs %d Redis servers, %v: want %d, %v", name, n, ok, k.Redis, err)
		}
	}
	for _, name := range []string{"", "nobody", "broken/nobody"} {
		if n, ok := kinds.RedisOf(name); ok {
			t.Errorf("%q needs %d Redis servers, and does not exist", name, n)
		}
	}
}
