package redis

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	lua "github.com/yuin/gopher-lua"
)

// openJSON adds cjson.encode and cjson.decode. They raise errors, as in Redis.
// null becomes nil; there is no cjson.null.
func openJSON(l *lua.LState) {
	t := l.NewTable()
	l.SetFuncs(t, map[string]lua.LGFunction{"encode": encodeJSON, "decode": decodeJSON})
	l.SetGlobal("cjson", t)
}

func encodeJSON(l *lua.LState) int {
	text, err := luajson.Encode(l.CheckAny(1))
	if err != nil {
		l.RaiseError("%s", err.Error())
	}
	l.Push(lua.LString(text))
	return 1
}

func decodeJSON(l *lua.LState) int {
	d := json.NewDecoder(bytes.NewReader([]byte(l.CheckString(1))))
	v, err := jsonValue(l, d)
	if err == nil {
		if _, extra := d.Token(); extra != io.EOF {
			err = errors.New("text behind the value")
		}
	}
	if err != nil {
		l.RaiseError("cjson.decode: %s", err.Error())
	}
	l.Push(v)
	return 1
}

// jsonValue decodes one value. Fields keep their order in the text: a Go map in
// between would make the order of pairs random.
func jsonValue(l *lua.LState, d *json.Decoder) (lua.LValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case bool:
		return lua.LBool(v), nil
	case float64:
		return lua.LNumber(v), nil
	case string:
		return lua.LString(v), nil
	case json.Delim:
		return jsonTable(l, d, v)
	}
	return lua.LNil, nil
}

func jsonTable(l *lua.LState, d *json.Decoder, open json.Delim) (lua.LValue, error) {
	t := l.NewTable()
	for i := 1; d.More(); i++ {
		key := lua.LValue(lua.LNumber(i))
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			key = lua.LString(name.(string))
		}
		v, err := jsonValue(l, d)
		if err != nil {
			return nil, err
		}
		t.RawSet(key, v)
	}
	_, err := d.Token() // the closing delimiter
	return t, err
}
