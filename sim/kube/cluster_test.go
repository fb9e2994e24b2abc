package kube_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/kube"
)

// transport has connections of a process to a server.
func transport(p *sim.Process, server string) *http.Transport {
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return p.Dial(ctx, network, p.Address(server))
	}}
	p.OnEnd(transport.CloseIdleConnections)
	return transport
}

// connect makes a client of an API server, for bodies of a content type.
func connect(t *testing.T, p *sim.Process, server, contentType string) client.LeaseInterface {
	t.Helper()
	c, err := client.NewForConfig(&rest.Config{Host: "http://" + server, Transport: transport(p, server),
		Timeout: 5 * time.Second,
		QPS:     -1, ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Leases("default")
}

// inWorld runs f in a process of a world with two API servers, with a client of each.
func inWorld(t *testing.T, contentType string,
	f func(w *sim.World, p *sim.Process, first, second client.LeaseInterface)) {
	t.Helper()
	kinds := []sim.Kind{kube.APIServers(2), kube.Stores(1), kube.Webhooks(1)}
	_, err := sim.Run(sim.Config{Seed: 1, Clients: 1, Servers: kinds}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { f(w, p, connect(t, p, "api0", contentType), connect(t, p, "api1", contentType)) })
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func lease(holder string, seconds int32) *coordination.Lease {
	return &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: "l"},
		Spec: coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds}}
}

// The answers that an election depends on are those of Kubernetes, in JSON and in protobuf. Each comment is the source.
func TestAnswers(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			inWorld(t, contentType, func(_ *sim.World, p *sim.Process, first, second client.LeaseInterface) {
				ctx := p.Context()
				is := func(what string, is func(error) bool, err error) {
					t.Helper()
					if err == nil || !is(err) {
						t.Errorf("%s: %v", what, err)
					}
				}
				_, err := first.Get(ctx, "l", meta.GetOptions{})
				is("a lease that is not there", apierrors.IsNotFound, err)
				_, err = first.Create(ctx, lease("a", 0), meta.CreateOptions{})
				is("a duration of 0", apierrors.IsInvalid, err) // ValidateLeaseSpec: must be greater than 0
				made, err := first.Create(ctx, lease("a", 15), meta.CreateOptions{})
				if err != nil || made.UID == "" || made.ResourceVersion == "" || made.CreationTimestamp.IsZero() {
					t.Fatalf("created %v: %v", made, err)
				}
				_, err = second.Create(ctx, lease("b", 15), meta.CreateOptions{})
				is("a lease that is there", apierrors.IsAlreadyExists, err)
				_, err = second.Update(ctx, lease("b", 15), meta.UpdateOptions{})
				is("an update without a version", apierrors.IsInvalid, err) // leaseStrategy.AllowUnconditionalUpdate is false
				found, err := second.Get(ctx, "l", meta.GetOptions{})
				if err != nil || found.ResourceVersion != made.ResourceVersion || *found.Spec.HolderIdentity != "a" {
					t.Fatalf("found %v: %v", found, err)
				}
				next := made.DeepCopy()
				*next.Spec.HolderIdentity = "c"
				changed, err := first.Update(ctx, next, meta.UpdateOptions{})
				if err != nil || changed.ResourceVersion == made.ResourceVersion || changed.UID != made.UID {
					t.Fatalf("changed %v: %v", changed, err)
				}
				_, err = second.Update(ctx, found, meta.UpdateOptions{})
				is("an update of an old version", apierrors.IsConflict, err)
				other := changed.DeepCopy()
				other.UID = types.UID("another")
				_, err = second.Update(ctx, other, meta.UpdateOptions{})
				is("an update of another object of that name", apierrors.IsConflict, err)
				put := lease("d", 15)
				put.Name = "m"
				if put, err = second.Update(ctx, put, meta.UpdateOptions{}); err != nil || put.UID == "" {
					t.Errorf("a lease made by an update: %v: %v", put, err) // leaseStrategy.AllowCreateOnUpdate is true
				}
				same, err := first.Update(ctx, changed, meta.UpdateOptions{})
				if err != nil || same.ResourceVersion != changed.ResourceVersion {
					t.Errorf("an update that changes nothing: %v: %v", same, err)
				}
				all, err := second.List(ctx, meta.ListOptions{})
				if err != nil || len(all.Items) != 2 || all.Items[1].Name != "m" || all.Items[1].UID == all.Items[0].UID {
					t.Errorf("list %v: %v", all, err)
				}
				for _, options := range []meta.ListOptions{{LabelSelector: "a=b"}, {Limit: 1}, {Continue: "x"}} {
					_, err = first.List(ctx, options)
					is("an option that is not there", apierrors.IsMethodNotSupported, err)
				}
				part, err := first.Patch(ctx, "l", types.MergePatchType, []byte(`{"spec": {"holderIdentity": "e"}}`),
					meta.PatchOptions{})
				if err != nil || *part.Spec.HolderIdentity != "e" {
					t.Errorf("a patch: %v: %v", part, err)
				}
				wrong := types.UID("another")
				err = second.Delete(ctx, "l", meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &wrong}})
				is("to delete another object of that name", apierrors.IsConflict, err)
				if err := second.Delete(ctx, "l", meta.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				_, err = first.Get(ctx, "l", meta.GetOptions{})
				is("a lease that was deleted", apierrors.IsNotFound, err)
			})
		})
	}
}

// An API server without its store has nothing but its cache.
func TestStaleServer(t *testing.T) {
	inWorld(t, "application/json", func(w *sim.World, p *sim.Process, first, second client.LeaseInterface) {
		ctx := p.Context()
		made, err := first.Create(ctx, lease("a", 15), meta.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Clock().Sleep(ctx, time.Second)
		w.At(w.Now(), func() {
			cut := faults.Partition{Between: []string{"api1"}, And: []string{"kv0"}, For: 20 * time.Second}
			if err := w.Faults().Cut(cut); err != nil {
				t.Error(err)
			}
		})
		_ = p.Clock().Sleep(ctx, time.Second)
		next := made.DeepCopy()
		*next.Spec.HolderIdentity = "b"
		if _, err := first.Update(ctx, next, meta.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := second.Get(ctx, "l", meta.GetOptions{}); err == nil {
			t.Error("a server without its store answers what the newest version is")
		}
		old, err := second.Get(ctx, "l", meta.GetOptions{ResourceVersion: "0"})
		if err != nil || *old.Spec.HolderIdentity != "a" {
			t.Errorf("the cache has %v: %v", old, err)
		}
		_ = p.Clock().Sleep(ctx, 30*time.Second)
		now, err := second.Get(ctx, "l", meta.GetOptions{ResourceVersion: "0"})
		if err != nil || *now.Spec.HolderIdentity != "b" {
			t.Errorf("after the partition the cache has %v: %v", now, err)
		}
	})
}

// A webhook that takes too long is an error, and nothing was written. One that is in time costs time.
func TestSlowWebhook(t *testing.T) {
	inWorld(t, "application/json", func(w *sim.World, p *sim.Process, first, _ client.LeaseInterface) {
		ctx := p.Context()
		stall := func(d time.Duration) {
			w.At(w.Now(), func() {
				if err := w.Faults().Stall("hook0", d); err != nil {
					t.Error(err)
				}
			})
			_ = p.Clock().Sleep(ctx, 100*time.Millisecond)
		}
		stall(3 * time.Second)
		before := w.Now()
		if _, err := first.Create(ctx, lease("a", 15), meta.CreateOptions{}); err != nil || w.Now()-before < 2*time.Second {
			t.Errorf("after %v: %v", w.Now()-before, err)
		}
		stall(30 * time.Second)
		wrong := lease("b", 15)
		wrong.Name = "m"
		_, err := first.Create(ctx, wrong, meta.CreateOptions{}) // the client's own limit is five seconds
		if err == nil {
			t.Error("a lease was made that the webhook had not admitted")
		}
		_ = p.Clock().Sleep(ctx, time.Minute)
		if _, err := first.Get(ctx, "m", meta.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a request whose client has gone was carried out: %v", err)
		}
	})
}

// Errors of a fault are answered, and nothing is carried out. A server that has crashed comes back with what is in the
// store.
func TestTrouble(t *testing.T) {
	inWorld(t, "application/json", func(w *sim.World, p *sim.Process, first, second client.LeaseInterface) {
		ctx := p.Context()
		strike := func(f func() error) {
			w.At(w.Now(), func() {
				if err := f(); err != nil {
					t.Error(err)
				}
			})
			_ = p.Clock().Sleep(ctx, 100*time.Millisecond)
		}
		made, err := first.Create(ctx, lease("a", 15), meta.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for answer, is := range map[faults.ReplyError]func(error) bool{
			faults.ReplyInternal: apierrors.IsInternalError, faults.ReplyConflict: apierrors.IsConflict,
		} {
			strike(func() error { return w.Faults().ReplyError("api0", answer, 1, time.Minute) })
			if _, err := first.Update(ctx, made, meta.UpdateOptions{}); !is(err) {
				t.Errorf("%s: %v", answer, err)
			}
		}
		strike(func() error { return w.Faults().ReplyError("api0", faults.ReplyThrottled, 1, time.Minute) })
		before := w.Now()
		if _, err := first.Get(ctx, "l", meta.GetOptions{}); err != nil || w.Now()-before < time.Second {
			t.Errorf("a throttled client has its answer after %v: %v", w.Now()-before, err) // client-go heeds Retry-After
		}
		strike(func() error { return w.Faults().Crash("kv0", faults.CrashPower) })
		strike(func() error { return w.Faults().Crash("api0", faults.CrashProcess) })
		strike(func() error { return w.Faults().Restart("kv0") })
		strike(func() error { return w.Faults().Restart("api0") })
		for _, c := range []client.LeaseInterface{first, second} {
			if l, err := c.Get(ctx, "l", meta.GetOptions{}); err != nil || *l.Spec.HolderIdentity != "a" {
				t.Errorf("after a crash there is %v: %v", l, err)
			}
		}
	})
}
