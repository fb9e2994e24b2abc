package redisguard

import (
	"testing"

	"locksim/lock/fence"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply []any
		want  answer
		bad   bool
	}{
		{"a value", []any{int64(1), "3", "x"}, answer{accepted: true, value: Value{"x", true, 3}}, false},
		{"no value", []any{int64(1), "0", nil}, answer{accepted: true}, false},
		{"no value, truncated", []any{int64(1), "0"}, answer{accepted: true}, false},
		{"a refusal", []any{int64(0), "18446744073709551615", "g", "2"},
			answer{state: fence.State{Highest: 1<<64 - 1, Grant: "g", Version: 2}}, false},
		{"nothing", nil, answer{}, true},
		{"a short refusal", []any{int64(0), "1"}, answer{}, true},
		{"a short acceptance", []any{int64(1)}, answer{}, true},
		{"an unknown verdict", []any{int64(2), "1", "x", "1"}, answer{}, true},
		{"a verdict of another type", []any{"1", "1", "x"}, answer{}, true},
		{"a negative token", []any{int64(0), "-1", "", "0"}, answer{}, true},
		{"a version that is not an integer", []any{int64(0), "1", "", "1e3"}, answer{}, true},
		{"an accepted operation without a version", []any{int64(1), nil, "x"}, answer{}, true},
	} {
		got, err := parse(tc.reply)
		if (err != nil) != tc.bad {
			t.Errorf("%s: error %v", tc.name, err)
		}
		if err == nil && got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}
