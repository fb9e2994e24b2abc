//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// TestShowsKubeSuccessorReleased shows that a LeaderElector with ReleaseOnCancel which has lost the lease gives up the
// lease of its successor. It cannot renew and gives up, and its release reads the record after another candidate has
// taken the lease: the elector takes the new version from it, does not look at the holder, and writes an empty one. A
// third candidate leads at once, while the second one leads too. The API server is not a real one: it keeps one Lease,
// with the versions of the API.
func TestShowsKubeSuccessorReleased(t *testing.T) {
	t.Parallel()
	klog.SetLogger(klog.New(nil)) // It discards.
	api := &leaseServer{held: map[string]*gate{}}
	server := httptest.NewServer(api)
	defer server.Close()
	ctx, stop := context.WithCancel(context.Background())
	var electors sync.WaitGroup
	defer electors.Wait()
	defer stop()

	start := func(name string) <-chan context.Context {
		return candidate(t, ctx, &electors, unlimited, server.URL, name, true)
	}
	first := leading(t, "a", start("a"))
	network := api.hold("a") // It cannot renew, and gives up after two seconds.
	second := leading(t, "b", start("b"))
	third := start("c")
	slow := api.hold("b") // Its next renewals take a moment, so that c asks before it.
	network.open()        // The next request of a is that of its release.
	waitFor(t, "a has been told that it does not lead", func() bool { return first.Err() != nil })
	if h := api.holders(); len(h) < 3 || !slices.Equal(h[:3], []string{"a", "b", ""}) {
		t.Fatalf("mended? The lease has had the holders %q", h)
	}
	_ = leading(t, "c", third)
	if second.Err() != nil {
		t.Fatal("this machine is too slow: b has given up before c leads")
	}
	t.Logf("b and c lead; the lease has had the holders %q", api.holders())
	slow.open()
	waitFor(t, "b has been told that it does not lead", func() bool { return second.Err() != nil })
}

// kubeServerVar is the environment variable that makes this program the process of a, with the address of the server.
const kubeServerVar = "UPSTREAM_KUBE"

// TestShowsKubeSuccessorReleasedAfterPause shows the same with the client that NewFromKubeconfig makes, whose requests
// end after half a RenewDeadline: a process that is stopped in the middle of a renewal gives up as soon as it goes on,
// and its release empties the record of the candidate that has taken the lease meanwhile.
func TestShowsKubeSuccessorReleasedAfterPause(t *testing.T) {
	if url := os.Getenv(kubeServerVar); url != "" {
		leadInProcess(t, url)
		return
	}
	t.Parallel()
	klog.SetLogger(klog.New(nil)) // It discards.
	api := &leaseServer{held: map[string]*gate{}}
	server := httptest.NewServer(api)
	defer server.Close()
	ctx, stop := context.WithCancel(context.Background())
	var electors sync.WaitGroup
	defer electors.Wait()
	defer stop()

	a := exec.Command(os.Args[0], "-test.run=^TestShowsKubeSuccessorReleasedAfterPause$")
	a.Env = append(os.Environ(), kubeServerVar+"="+server.URL)
	in, err := a.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = a.Process.Signal(syscall.SIGCONT)
		_ = a.Wait()
	}()
	waitFor(t, "a leads", func() bool { return len(api.holders()) > 0 })
	network := api.hold("a")
	waitFor(t, "a renews", func() bool { return api.waiting("a") > 0 })
	if err := a.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := func(name string) <-chan context.Context {
		return candidate(t, ctx, &electors, fromKubeconfig, server.URL, name, true)
	}
	second := leading(t, "b", start("b"))
	third := start("c")
	slow := api.hold("b") // Its next renewals take a moment, so that c asks before it.
	network.open()
	if err := a.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = leading(t, "c", third)
	if h := api.holders(); len(h) < 3 || !slices.Equal(h[:3], []string{"a", "b", ""}) {
		t.Fatalf("mended? The lease has had the holders %q", h)
	}
	if second.Err() != nil {
		t.Fatal("this machine is too slow: b has given up before c leads")
	}
	t.Logf("b and c lead; the lease has had the holders %q", api.holders())
	slow.open()
	waitFor(t, "b has been told that it does not lead", func() bool { return second.Err() != nil })
}

// leadInProcess is the process of a: it runs until its input ends.
func leadInProcess(t *testing.T, url string) {
	klog.SetLogger(klog.New(nil)) // It discards.
	ctx, stop := context.WithCancel(context.Background())
	var electors sync.WaitGroup
	defer electors.Wait()
	defer stop()
	_ = candidate(t, ctx, &electors, fromKubeconfig, url, "a", true)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// renewDeadline is the RenewDeadline of all candidates.
const renewDeadline = 2500 * time.Millisecond

// unlimited is the lock of a candidate whose requests have no limit of their own.
func unlimited(config *rest.Config, name string) (resourcelock.Interface, error) {
	client, err := coordinationclient.NewForConfig(config)
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "order"}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}, err
}

// fromKubeconfig is that of one whose requests end after half a RenewDeadline.
func fromKubeconfig(config *rest.Config, name string) (resourcelock.Interface, error) {
	return resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "order",
		resourcelock.ResourceLockConfig{Identity: name}, config, renewDeadline)
}

// candidate runs an elector until the context ends. It returns a channel that has the context of its leadership as soon
// as it leads. The server knows it by the beginning of the path.
func candidate(
	t *testing.T, ctx context.Context, electors *sync.WaitGroup,
	client func(*rest.Config, string) (resourcelock.Interface, error), url, name string, release bool,
) <-chan context.Context {
	t.Helper()
	lock, err := client(&rest.Config{
		Host: url + "/" + name, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}, name)
	if err != nil {
		t.Fatal(err)
	}
	leads := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: renewDeadline, RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leads <- ctx }, OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	electors.Go(func() { elector.Run(ctx) })
	return leads
}

// leading waits until a candidate leads.
func leading(t *testing.T, name string, leads <-chan context.Context) context.Context {
	t.Helper()
	select {
	case ctx := <-leads:
		return ctx
	case <-time.After(patience):
		t.Fatalf("after %v %s does not lead", patience, name)
		return nil
	}
}

// leaseServer is the part of an API server that keeps one Lease, with optimistic locking by resourceVersion.
type leaseServer struct {
	mu      sync.Mutex
	held    map[string]*gate // The gates for which the requests of a candidate wait.
	waits   map[string]int   // How many of them have waited.
	lease   *coordinationv1.Lease
	version int
	past    []string // The holders, one after another.
}

func (s *leaseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	g := s.held[name]
	if g != nil {
		s.waits[name]++
	}
	s.mu.Unlock()
	if g != nil {
		select {
		case <-g.c:
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resource := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	var sent coordinationv1.Lease
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	switch {
	case r.Method == http.MethodPost && s.lease != nil:
		answer(w, apierrors.NewAlreadyExists(resource, sent.Name))
	case r.Method != http.MethodPost && s.lease == nil:
		answer(w, apierrors.NewNotFound(resource, "order"))
	case r.Method == http.MethodPut && sent.ResourceVersion != s.lease.ResourceVersion:
		answer(w, apierrors.NewConflict(resource, sent.Name, nil))
	default:
		if r.Method != http.MethodGet {
			s.version++
			sent.ResourceVersion = strconv.Itoa(s.version)
			s.lease = &sent
			if h := s.holder(); len(s.past) == 0 || s.past[len(s.past)-1] != h {
				s.past = append(s.past, h)
			}
		}
		answer(w, s.lease)
	}
}

// answer writes an object, or an error with its code.
func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	if failed, ok := object.(*apierrors.StatusError); ok {
		w.WriteHeader(int(failed.ErrStatus.Code))
		object = failed.ErrStatus
	}
	_ = json.NewEncoder(w).Encode(object)
}

// hold lets the requests of a candidate wait until the gate is open.
func (s *leaseServer) hold(name string) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[name] = newGate()
	s.waits = map[string]int{}
	return s.held[name]
}

// waiting is how many requests of a candidate have waited since the last gate was made.
func (s *leaseServer) waiting(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits[name]
}

func (s *leaseServer) holder() string {
	if s.lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *s.lease.Spec.HolderIdentity
}

func (s *leaseServer) holders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.past)
}
