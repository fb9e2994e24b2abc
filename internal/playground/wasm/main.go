//go:build js && wasm

// Command wasm is package playground for a browser: it sets the function locksim(what, request, say), which answers by
// calling say with JSON. Package page builds it.
//
//go:debug randseednop=0
package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"locksim/internal/playground"
)

// call is a request of the page.
type call struct {
	what    string
	request []byte
	say     js.Value
}

func main() {
	debug.SetGCPercent(400) // it has one thread, and what lives is small beside what a run throws away
	calls := make(chan call, 1)
	js.Global().Set("locksim", js.FuncOf(func(_ js.Value, args []js.Value) any {
		c := call{args[0].String(), []byte(args[1].String()), args[2]}
		go func() { calls <- c }() // what JavaScript has called must not wait
		return nil
	}))
	for c := range calls {
		c.answer()
	}
}

// answer says the answer, with "more" for a part of it.
func (c call) answer() {
	defer func() {
		if p := recover(); p != nil {
			c.send("done", map[string]any{"problem": playground.Problem{Text: fmt.Sprintf("locksim panicked, which is a bug: %v",
				p)}})
		}
	}()
	var r playground.Request
	if len(c.request) > 0 {
		if err := json.Unmarshal(c.request, &r); err != nil {
			c.fail(err)
			return
		}
	}
	switch c.what {
	case "menu":
		c.end(playground.NewMenu())
	case "play":
		c.send("done", playground.Play(r))
	case "labels":
		c.end(playground.Labels(r))
	case "curve":
		n := 0
		c.end(playground.Curve(r, func() {
			if n++; n%10 == 0 {
				c.send("more", n)
			}
		}))
	default:
		c.fail(fmt.Errorf("there is no %q", c.what))
	}
}

func (c call) end(v any, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	c.send("done", v)
}

func (c call) fail(err error) {
	c.send("done", map[string]any{"problem": playground.Problem{Text: err.Error()}})
}

func (c call) send(when string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the answers are plain data
	}
	c.say.Invoke(when, string(b))
}
