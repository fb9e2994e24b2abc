package redisguard

import (
	"fmt"
	"strconv"

	"locksim/lock/fence"
)

// answer is the result of a script.
type answer struct {
	accepted bool
	value    Value       // if it was accepted: the value before a write
	state    fence.State // if it was refused: the state of the rule
}

// parse reads a script's reply: {1, version, value or nil}, or {0, highest token, grant, version}.
func parse(reply []any) (answer, error) {
	var a answer
	if len(reply) == 0 {
		return a, fmt.Errorf("the script answered nothing")
	}
	switch {
	case reply[0] == int64(1) && len(reply) >= 2:
		a.accepted = true
		var err error
		a.value.Version, err = number("version", reply[1])
		if len(reply) > 2 {
			a.value.Text, a.value.Found = reply[2].(string)
		}
		return a, err
	case reply[0] == int64(0) && len(reply) == 4:
		return parseRefusal(reply)
	}
	return a, fmt.Errorf("the script answered %q", reply)
}

func parseRefusal(reply []any) (a answer, err error) {
	if a.state.Highest, err = number("highest", reply[1]); err != nil {
		return a, err
	}
	if a.state.Version, err = number("version", reply[3]); err != nil {
		return a, err
	}
	a.state.Grant, _ = reply[2].(string)
	return a, nil
}

// number parses one of the guard's own fields.
func number(name string, v any) (uint64, error) {
	text, _ := v.(string)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("field %s%s of the hash holds %q, which is not a number", Reserved, name, v)
	}
	return n, nil
}
