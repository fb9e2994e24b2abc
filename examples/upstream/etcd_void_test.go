package upstream

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
)

// TestShowsEtcdVoid shows that Mutex.Lock returns nil to a client whose session has ended. The client waits behind
// another one. For longer than the TTL its requests arrive, and the answers do not: the server renews the lease, and
// the client takes it for lost, and closes Session.Done. Then the answers arrive, the other client unlocks, and Lock
// returns nil, since the server still has the key. Nothing renews that any more: it ends, and a third client has the
// lock.
func TestShowsEtcdVoid(t *testing.T) {
	t.Parallel()
	const ttl = 2 // Seconds. It is the least that etcd grants with its defaults.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	addr := startEtcd(t)
	direct := etcdClient(t, addr)

	var silent atomic.Bool
	answers := newGate()
	network := startProxy(t, addr, nil, func([]byte) *gate {
		if silent.Load() {
			return answers
		}
		return nil
	})

	first, err := concurrency.NewSession(direct, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	holder := concurrency.NewMutex(first, "/order")
	if err := holder.Lock(ctx); err != nil {
		t.Fatal(err)
	}

	second, err := concurrency.NewSession(etcdClient(t, network.addr), concurrency.WithTTL(ttl))
	if err != nil {
		t.Fatal(err)
	}
	waiter := concurrency.NewMutex(second, "/order")
	granted := make(chan error, 1)
	go func() { granted <- waiter.Lock(ctx) }()
	waitFor(t, "the second client waits behind the first one", func() bool {
		keys, err := direct.Get(ctx, fmt.Sprintf("/order/%x", second.Lease()))
		if err != nil {
			t.Fatal(err)
		}
		return len(keys.Kvs) == 1
	})

	silent.Store(true)
	wait(t, "the session of the second client has ended", second.Done())
	silent.Store(false)
	answers.open()
	if err := holder.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-granted; err != nil {
		t.Fatalf("mended? Lock says %v", err)
	}
	begin := time.Now()

	third, err := concurrency.NewSession(direct, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = third.Close() }()
	if err := concurrency.NewMutex(third, "/order").Lock(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("the third client has the lock after %v, and the second one has not unlocked",
		time.Since(begin).Round(time.Millisecond))
}
