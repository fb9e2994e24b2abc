package proxytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"locksim/faults"
)

// typeNames are the toxics that the actions use, by the names under which
// Toxiproxy knows them. It makes new ones of the same type by name, and fills
// them from JSON.
var typeNames = map[string]toxics.Toxic{
	"locksim-hold": new(faults.Hold), "locksim-drop": new(faults.Drop), "locksim-lose": new(faults.Lose),
	"locksim-delay": new(faults.Delay), "locksim-jitter": new(faults.Jitter), "witness": new(witness),
	"bandwidth": new(toxics.BandwidthToxic), "slicer": new(toxics.SlicerToxic), "slow_close": new(toxics.SlowCloseToxic),
}

func TestMain(m *testing.M) {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	for name, toxic := range typeNames {
		toxics.Register(name, toxic)
	}
	goleak.VerifyTestMain(m)
}

// live is a world of one client c0 and one node r0, with a Toxiproxy between
// them. It has the abilities that a network needs.
type live struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	node  *node
	on    []string // the toxics, by name
	up    *witness // sees what goes from c0 to r0, in front of all toxics
	down  *witness // sees what goes from r0 to c0
}

var _ interface {
	faults.Toxifier
	faults.Cutter
} = (*live)(nil)

func newLive(t *testing.T) *live {
	t.Helper()
	l := &live{t: t, node: listen(t)}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l.proxy = toxiproxy.NewProxy(server, "r0", "127.0.0.1:0", l.node.Addr().String())
	if err := l.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.proxy.Stop)
	t.Cleanup(l.heal)
	l.up, l.down = l.watch("upstream"), l.watch("downstream")
	return l
}

// watch puts a witness in front of the toxics of a direction.
func (l *live) watch(direction string) *witness {
	l.t.Helper()
	if err := l.add("witness-"+direction, direction, new(witness)); err != nil {
		l.t.Fatal(err)
	}
	return l.proxy.Toxics.GetToxic("witness-" + direction).Toxic.(*witness)
}

// Toxify puts a toxic on both directions, or on the one that is meant.
func (l *live) Toxify(w faults.Wire, name string, build func(seed uint64) toxics.Toxic, _ time.Duration) error {
	streams := map[faults.Direction][]string{
		faults.DirectionBoth:    {"upstream", "downstream"},
		faults.DirectionForward: {"upstream"}, faults.DirectionBackward: {"downstream"},
	}
	for i, direction := range streams[w.Direction] {
		full := name + "-" + direction
		if err := l.add(full, direction, build(uint64(i))); err != nil {
			return err
		}
		l.on = append(l.on, full)
	}
	return nil
}

// Cut puts the toxic of a partition there.
func (l *live) Cut(p faults.Partition) error {
	w := faults.Wire{Between: p.Between, And: p.And, Direction: p.Direction}
	return l.Toxify(w, p.Kind(), func(uint64) toxics.Toxic {
		if p.Bytes == faults.BytesDrop {
			return new(faults.Drop)
		}
		return new(faults.Hold)
	}, p.For)
}

// add tells Toxiproxy of a toxic the way a client of its API does.
func (l *live) add(name, direction string, toxic toxics.Toxic) error {
	for typeName, known := range typeNames {
		if fmt.Sprintf("%T", known) != fmt.Sprintf("%T", toxic) {
			continue
		}
		body, err := json.Marshal(map[string]any{"name": name, "type": typeName, "stream": direction, "attributes": toxic})
		if err != nil {
			return err
		}
		_, err = l.proxy.Toxics.AddToxicJson(bytes.NewReader(body))
		return err
	}
	return fmt.Errorf("nobody has registered a %T", toxic)
}

// apply does what a fault does.
func (l *live) apply(a faults.Action) {
	l.t.Helper()
	if err := a.Apply(l); err != nil {
		l.t.Fatal(err)
	}
}

// heal takes the toxics off that faults have put there.
func (l *live) heal() {
	for _, name := range l.on {
		if err := l.proxy.Toxics.RemoveToxic(context.Background(), name); err != nil {
			l.t.Error(err)
		}
	}
	l.on = nil
}

// dial opens a connection from c0 to r0, and returns both of its ends.
func (l *live) dial() (client, server net.Conn) {
	l.t.Helper()
	client, err := net.Dial("tcp", l.proxy.Listen)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = client.Close() })
	return client, <-l.node.accepted
}

// node is where the connections end.
type node struct {
	net.Listener
	accepted chan net.Conn
}

func listen(t *testing.T) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{l, make(chan net.Conn)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			n.accepted <- c
		}
	}()
	return n
}

// send writes all of a text.
func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// wantText reads as many bytes as the text has.
func wantText(t *testing.T, c net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("arrived: %q, %v; want %q", got[:n], err, text)
	}
}

// wantEnd reads to the end, before which nothing may come.
func wantEnd(t *testing.T, c net.Conn) {
	t.Helper()
	if rest, _ := io.ReadAll(c); len(rest) > 0 {
		t.Fatalf("%q arrived before the end", rest)
	}
}
