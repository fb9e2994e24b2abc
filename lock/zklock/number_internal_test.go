package zklock

import (
	"math"
	"testing"
)

// The numbers of nodes turn negative after 2^31 of them (F61), and their order stays.
func TestNumbersWrap(t *testing.T) {
	names := []string{"q-7c.2147483646", "q-07.2147483647", "q-aa.-2147483648", "q-00.-2147483647"}
	for i, name := range names[1:] {
		a, ok1 := number(names[i])
		b, ok2 := number(name)
		if !ok1 || !ok2 || !before(a, b) || before(b, a) {
			t.Errorf("%s is not before %s: %d, %d", names[i], name, a, b)
		}
	}
	if n, ok := number("q-aa.-2147483648"); !ok || n != math.MinInt32 {
		t.Errorf("%d, %v", n, ok)
	}
	for _, other := range []string{"", "lock-0000000001", "q-7c", "q-7c.x", "_c_7c-lock-0000000001"} {
		if _, ok := number(other); ok {
			t.Errorf("%q is none of ours", other)
		}
	}
}
