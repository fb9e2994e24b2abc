package sim

import (
	"bufio"
	"bytes"
	"reflect"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// nestedContext is a fresh copy of the context that miniredis gives to the
// commands of a script. Its type is not exported, so one is caught once, from
// a script that miniredis itself runs.
func nestedContext() any {
	caught := catchContext()
	fresh := reflect.New(reflect.TypeOf(caught).Elem())
	fresh.Elem().Set(reflect.ValueOf(caught).Elem())
	return fresh.Interface()
}

var catchContext = sync.OnceValue(func() any {
	m := miniredis.NewMiniRedis()
	c, err := m.Dial()
	if err != nil {
		panic("sim: miniredis does not start in memory: " + err.Error())
	}
	_ = c.Close()
	defer m.Close()
	var caught any
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd == "PING" {
			caught = p.Ctx
		}
		return false
	})
	m.Server().Dispatch(server.NewPeer(bufio.NewWriter(&bytes.Buffer{})), []string{"EVAL", "return redis.call('PING')", "0"})
	return caught
})
