package redisguard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"locksim/lock/fence"
	"locksim/lock/fence/redisguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "order:42"

// rules are the modes that a guard can have.
var rules = fence.Modes()[1:]

// node returns a Redis node for the test and a client of it.
func node(t testing.TB) (*miniredis.Miniredis, *redis.Client) {
	t.Helper()
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close(); server.Close() })
	return server, client
}

func guard(t testing.TB, client redisguard.Redis, mode fence.Mode) *redisguard.Guard {
	t.Helper()
	g, err := redisguard.New(client, mode)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A guard works on an existing hash, and a refused operation does not change
// it.
func TestRefusalChangesNothing(t *testing.T) {
	overtaken := fence.Op{Token: 1, Grant: "a"}
	for _, mode := range rules {
		t.Run(string(mode), func(t *testing.T) {
			server, client := node(t)
			g := guard(t, client, mode)
			server.HSet(key, "balance", "10", "owner", "c9")

			if v, err := g.Read(t.Context(), key, "balance", overtaken); err != nil ||
				v != (redisguard.Value{Text: "10", Found: true}) {
				t.Fatalf("read %+v, %v", v, err)
			}
			successor := fence.Op{Token: 2, Grant: "b"}
			if _, err := g.Read(t.Context(), key, "balance", successor); err != nil {
				t.Fatal(err)
			}
			if err := g.Write(t.Context(), key, "balance", "20", successor); err != nil {
				t.Fatal(err)
			}
			before := hash(server)
			if err := g.Write(t.Context(), key, "balance", "30", overtaken); !errors.Is(err, fence.ErrStale) {
				t.Errorf("stale write: %v", err)
			}
			if after := hash(server); after != before {
				t.Errorf("the hash was\n%s, and is now\n%s", before, after)
			}
			if server.HGet(key, "balance") != "20" || server.HGet(key, "owner") != "c9" {
				t.Errorf("the hash is\n%s", hash(server))
			}
		})
	}
}

// hash is the content of the key.
func hash(server *miniredis.Miniredis) string {
	var b strings.Builder
	fields, _ := server.HKeys(key)
	for _, f := range fields {
		b.WriteString(f + "=" + server.HGet(key, f) + "\n")
	}
	return b.String()
}

func TestReadFindsNothing(t *testing.T) {
	for _, mode := range rules {
		_, client := node(t)
		v, err := guard(t, client, mode).Read(t.Context(), key, "balance", fence.Op{Token: 1, Grant: "a"})
		if err != nil || v != (redisguard.Value{}) {
			t.Errorf("mode %s: read %+v, %v", mode, v, err)
		}
	}
}

// An empty value is a value.
func TestEmptyValue(t *testing.T) {
	_, client := node(t)
	g := guard(t, client, fence.CAS)
	if err := g.Write(t.Context(), key, "balance", "", fence.Op{}); err != nil {
		t.Fatal(err)
	}
	if v, err := g.Read(t.Context(), key, "balance", fence.Op{}); err != nil ||
		v != (redisguard.Value{Found: true, Version: 1}) {
		t.Errorf("read %+v, %v", v, err)
	}
}

func TestNewRefuses(t *testing.T) {
	_, client := node(t)
	for _, tc := range []struct {
		client redisguard.Redis
		mode   fence.Mode
		want   string
	}{
		{client, fence.None, `rule "none" guards nothing: choose one of ["check" "seal" "strict" "claim" "cas"]`},
		{client, "sael", `rule "sael" guards nothing: choose`},
		{nil, fence.Seal, "the client is nil"},
	} {
		if _, err := redisguard.New(tc.client, tc.mode); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("mode %q: %v, want %s", tc.mode, err, tc.want)
		}
	}
}

func TestReservedFields(t *testing.T) {
	server, client := node(t)
	g := guard(t, client, fence.Seal)
	_, readErr := g.Read(t.Context(), key, "fence:highest", fence.Op{Token: 1})
	writeErr := g.Write(t.Context(), key, "fence:highest", "0", fence.Op{Token: 1})
	for _, err := range []error{readErr, writeErr} {
		if err == nil || !strings.HasSuffix(err.Error(),
			`field fence:highest of order:42: fields that begin with "fence:" are the guard's own`) {
			t.Errorf("error %v", err)
		}
	}
	if server.Exists(key) {
		t.Error("the hash was made")
	}
}

// A state that another program has overwritten is an error.
func TestDamagedHash(t *testing.T) {
	for field, op := range map[string]fence.Op{"fence:highest": {Token: 1}, "fence:version:balance": {}} {
		server, client := node(t)
		server.HSet(key, field, "many")
		mode := fence.Seal
		if op.Token == 0 {
			mode = fence.CAS
		}
		err := guard(t, client, mode).Write(t.Context(), key, "balance", "1", op)
		if err == nil || errors.Is(err, fence.ErrStale) ||
			!strings.Contains(err.Error(), `holds "many", which is not a number`) {
			t.Errorf("%s: %v", field, err)
		}
		if server.HGet(key, "balance") != "" {
			t.Errorf("%s: the value was written", field)
		}
	}
}

// An error reply proves that nothing was written.
func TestErrorReplyIsKnown(t *testing.T) {
	server, client := node(t)
	if err := server.Set(key, "a string"); err != nil {
		t.Fatal(err)
	}
	err := guard(t, client, fence.Seal).Write(t.Context(), key, "balance", "1", fence.Op{Token: 1})
	if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") || errors.Is(err, redisguard.ErrOutcomeUnknown) {
		t.Errorf("error %v", err)
	}
}

// A write whose reply is lost has an unknown outcome: it may have been made.
func TestLostAnswerIsUnknown(t *testing.T) {
	server, _ := node(t)
	client := redis.NewClient(&redis.Options{
		Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return replyLost{c}, err
		},
	})
	defer func() { _ = client.Close() }()
	op := fence.Op{Token: 1}
	if err := guard(t, client, fence.Seal).Write(t.Context(), key, "balance", "1", op); !errors.Is(err,
		redisguard.ErrOutcomeUnknown) {
		t.Errorf("write: %v", err)
	}
	_, err := guard(t, client, fence.Seal).Read(t.Context(), key, "balance", op)
	if err == nil || errors.Is(err, fence.ErrStale) || errors.Is(err, redisguard.ErrOutcomeUnknown) {
		t.Errorf("read: %v", err)
	}
}

// replyLost is a connection that loses every reply.
type replyLost struct{ net.Conn }

func (d replyLost) Read(b []byte) (int, error) {
	if _, err := d.Conn.Read(b); err != nil {
		return 0, err
	}
	return 0, io.EOF
}
