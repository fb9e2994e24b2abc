// Command realkube is Kubernetes' own handlers and registry of leases over an etcd, for the tests that compare the
// simulated servers with it. It has no authentication, no admission and no filters.
//
//	go -C internal/realkube run . -etcd http://127.0.0.1:2379
//
// It listens on loopback alone, prints the address of its HTTP API, and ends when its standard input does.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/coordination"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
)

func main() {
	etcd := flag.String("etcd", "", "the URL of an etcd without data")
	flag.Parse()
	klog.LogToStderr(false) // it names each request that is refused
	klog.SetOutput(io.Discard)
	if err := serve(*etcd); err != nil {
		fmt.Fprintln(os.Stderr, "realkube:", err)
		os.Exit(1)
	}
}

func serve(etcd string) error {
	handler, err := leases(etcd)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(l.Addr())
	return http.Serve(l, handler)
}

// leases is the API of leases, with its paths.
func leases(etcd string) (http.Handler, error) {
	resource := coordination.Resource("leases")
	config := storagebackend.NewDefaultConfig("/registry",
		legacyscheme.Codecs.LegacyCodec(coordinationv1.SchemeGroupVersion))
	config.Transport.ServerList = []string{etcd}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &coordination.Lease{} },
		NewListFunc:               func() runtime.Object { return &coordination.LeaseList{} },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: coordination.Resource("lease"),
		CreateStrategy:            lease.Strategy,
		UpdateStrategy:            lease.Strategy,
		DeleteStrategy:            lease.Strategy,
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
	}
	err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: generic.RESTOptions{
		StorageConfig: config.ForResource(resource), Decorator: registry.StorageWithCacher(),
		DeleteCollectionWorkers: 1, ResourcePrefix: "leases",
	}})
	if err != nil {
		return nil, fmt.Errorf("the registry of leases: %w", err)
	}
	scheme := legacyscheme.Scheme
	group := &endpoints.APIGroupVersion{
		Storage: map[string]rest.Storage{"leases": store}, Root: "/apis", GroupVersion: coordinationv1.SchemeGroupVersion,
		Serializer: legacyscheme.Codecs, ParameterCodec: legacyscheme.ParameterCodec,
		Typer: scheme, Creater: scheme, Convertor: scheme, ConvertabilityChecker: scheme,
		UnsafeConvertor: runtime.UnsafeObjectConvertor(scheme),
		Defaulter:       scheme, Namer: runtime.Namer(meta.NewAccessor()),
		EquivalentResourceRegistry: runtime.NewEquivalentResourceRegistry(),
		TypeConverter:              managedfields.NewDeducedTypeConverter(), MinRequestTimeout: time.Minute,
		MaxRequestBodyBytes: 3 << 20, Authorizer: authorizerfactory.NewAlwaysAllowAuthorizer(),
	}
	container := restful.NewContainer()
	if _, _, err := group.InstallREST(container); err != nil {
		return nil, fmt.Errorf("the paths of leases: %w", err)
	}
	metav1.AddToGroupVersion(scheme, coordinationv1.SchemeGroupVersion)
	known := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as after authentication
		ctx := request.WithUser(r.Context(), &user.DefaultInfo{Name: "locksim"})
		container.ServeHTTP(w, r.WithContext(ctx))
	})
	return filters.WithRequestInfo(filters.WithAuditInit(known), &request.RequestInfoFactory{
		APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString(),
	}), nil
}
