package checker

import (
	"fmt"
	"testing"
)

// The exact check takes linear time: ns/op must grow by ten from line to line.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		h := inTurn(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Judge(h, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCorroborate(b *testing.B) {
	h := inTurn(100)
	v, err := Judge(h, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Corroborate(h, v.Facts); err != nil {
			b.Fatal(err)
		}
	}
}
