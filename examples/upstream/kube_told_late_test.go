//go:build unix

package upstream

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// TestShowsKubeToldLate shows that a LeaderElector with ReleaseOnCancel which cannot renew leads on when its lease is
// over: before it ends the context of its leader, it tries to give the lease back, for up to another RenewDeadline.
// Without ReleaseOnCancel it ends the context in time. It is so with a client without limits, and with the one that
// NewFromKubeconfig makes, whose requests end after half a RenewDeadline. The API server is not a real one: it keeps
// one Lease, with the versions of the API.
func TestShowsKubeToldLate(t *testing.T) {
	for _, c := range []struct {
		name    string
		release bool
		client  func(*rest.Config, string) (resourcelock.Interface, error)
	}{
		{"with ReleaseOnCancel", true, unlimited}, {"without", false, unlimited},
		{"with ReleaseOnCancel, from a kubeconfig", true, fromKubeconfig},
		{"without, from a kubeconfig", false, fromKubeconfig},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			klog.SetLogger(klog.New(nil)) // It discards.
			api := &leaseServer{held: map[string]*gate{}}
			server := httptest.NewServer(api)
			defer server.Close()
			ctx, stop := context.WithCancel(context.Background())
			var electors sync.WaitGroup
			defer electors.Wait()
			defer stop()

			first := leading(t, "a", candidate(t, ctx, &electors, c.client, server.URL, "a", c.release))
			network := api.hold("a")
			defer network.open()
			_ = leading(t, "b", candidate(t, ctx, &electors, c.client, server.URL, "b", c.release))
			switch told := first.Err() != nil; {
			case c.release && told:
				t.Fatal("mended? a has been told that it does not lead before b leads")
			case !c.release && !told:
				t.Fatal("a has not been told, also without ReleaseOnCancel")
			case c.release:
				t.Log("b leads, and a has not been told that it leads no longer")
			}
			waitFor(t, "a has been told that it does not lead", func() bool { return first.Err() != nil })
		})
	}
}
