package kube_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"locksim/sim"
)

// An informer of client-go, unmodified, sees each change in order, also after its server has crashed: what was deleted
// meanwhile too.
func TestInformer(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			var seen []string
			inWorld(t, contentType, func(w *sim.World, p *sim.Process, first, second client.LeaseInterface) {
				follow(t, p, contentType, func(what string, l *coordination.Lease) {
					seen = append(seen, fmt.Sprint(what, " ", l.Name, " ", *l.Spec.HolderIdentity))
				})
				sleep := func(d time.Duration) { _ = p.Clock().Sleep(p.Context(), d) }
				make := func(name, holder string) *coordination.Lease {
					l := lease(holder, 15)
					l.Name = name
					made, err := second.Create(p.Context(), l, meta.CreateOptions{})
					if err != nil {
						t.Error(err)
					}
					return made
				}
				sleep(time.Second)
				one := make("one", "a")
				*one.Spec.HolderIdentity = "b"
				if _, err := second.Update(p.Context(), one, meta.UpdateOptions{}); err != nil {
					t.Error(err)
				}
				make("two", "a")
				sleep(time.Second)
				w.At(w.Now(), func() {
					if err := w.Faults().Crash("api0", "process"); err != nil {
						t.Error(err)
					}
				})
				sleep(time.Second)
				if err := second.Delete(p.Context(), "one", meta.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				w.At(w.Now(), func() {
					if err := w.Faults().Restart("api0"); err != nil {
						t.Error(err)
					}
				})
				sleep(time.Minute)
				make("three", "c")
				if err := second.Delete(p.Context(), "two", meta.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				sleep(time.Second)
			})
			want := []string{"added one a", "updated one b", "added two a", "deleted one b", "added three c", "deleted two a"}
			if !slices.Equal(seen, want) {
				t.Errorf("seen %q, want %q", seen, want)
			}
		})
	}
}

// follow starts an informer of leases on api0, in a process.
func follow(t *testing.T, p *sim.Process, contentType string, see func(what string, l *coordination.Lease)) {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: "http://api0", Transport: transport(p, "api0"), QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType}})
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	_, err = factory.Coordination().V1().Leases().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { see("added", o.(*coordination.Lease)) },
		UpdateFunc: func(before, o any) {
			if b := before.(*coordination.Lease); b.ResourceVersion != o.(*coordination.Lease).ResourceVersion {
				see("updated", o.(*coordination.Lease))
			}
		},
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			see("deleted", o.(*coordination.Lease))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(p.Context())
}
