package kube

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"locksim/sim"
)

var (
	resource = schema.GroupResource{Group: coordination.GroupName, Resource: "leases"}
	kind     = schema.GroupKind{Group: coordination.GroupName, Kind: "Lease"}
)

// base is the path of all namespaces.
const base = "/apis/" + coordination.GroupName + "/v1/namespaces/"

// request is what a client asks of one lease.
type request struct {
	method          string
	key             string // of the lease, in the store
	namespace, name string
	cached          bool // the cache may answer
	limit           time.Duration
	body            []byte
}

// read reads a request. ok is false for one that these servers do not have.
func read(q *http.Request, body []byte) (r request, ok bool) {
	path, found := strings.CutPrefix(q.URL.Path, base)
	parts := strings.Split(path, "/")
	query := q.URL.Query()
	if !found || len(parts) < 2 || parts[1] != "leases" || query.Has("watch") {
		return request{}, false
	}
	r = request{method: q.Method, namespace: parts[0], limit: requestTimeout, body: body}
	if wants, err := time.ParseDuration(query.Get("timeout")); err == nil && wants > 0 {
		r.limit = min(wants, requestTimeout)
	}
	switch {
	case len(parts) == 2 && r.method == http.MethodPost:
		if l, ok := r.lease(); ok { // next says what is wrong with it otherwise
			r.name = l.Name
		}
	case len(parts) == 3 && r.method == http.MethodGet:
		r.name, r.cached = parts[2], query.Get("resourceVersion") == "0"
	case len(parts) == 3 && r.method == http.MethodPut:
		r.name = parts[2]
	default:
		return request{}, false
	}
	r.key = Key(r.namespace, r.name)
	return r, true
}

// lease is that of the body.
func (r request) lease() (l *coordination.Lease, ok bool) {
	o, err := decode(r.body)
	l, ok = o.(*coordination.Lease)
	return l, ok && err == nil
}

// conflict is the error of a change that was made from another version than what is there.
func (r request) conflict() *apierrors.StatusError {
	return apierrors.NewConflict(resource, r.name,
		fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

// next is the lease as it is to be written, from what is there.
func (r request) next(n *sim.Node, before *object) (*coordination.Lease, *apierrors.StatusError) {
	l, ok := r.lease()
	if !ok {
		return nil, apierrors.NewBadRequest("the body of the request is not a Lease")
	}
	if l.Name != r.name || l.Namespace != "" && l.Namespace != r.namespace || l.Name == "" {
		return nil, apierrors.NewBadRequest("the name of the object does not match the name on the URL")
	}
	l.TypeMeta = meta.TypeMeta{APIVersion: coordination.SchemeGroupVersion.String(), Kind: kind.Kind}
	l.Namespace = r.namespace
	switch {
	case before != nil && r.method == http.MethodPost:
		return nil, apierrors.NewAlreadyExists(resource, r.name)
	case before == nil && l.UID != "", before != nil && l.UID != "" && l.UID != before.lease.UID:
		return nil, r.conflict() // it is another object of that name
	case before == nil: // also by PUT: leases allow it
		l.UID, l.CreationTimestamp = uid(n), meta.NewTime(n.Now())
	case l.ResourceVersion == "":
		return nil, apierrors.NewInvalid(kind, r.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update")})
	case l.ResourceVersion != before.lease.ResourceVersion:
		return nil, r.conflict()
	default:
		l.UID, l.CreationTimestamp = before.lease.UID, before.lease.CreationTimestamp
	}
	if wrong := validate(&l.Spec); len(wrong) > 0 {
		return nil, apierrors.NewInvalid(kind, r.name, wrong)
	}
	return l, nil
}

// validate is what Kubernetes refuses of a lease, as far as its elections without coordination can have it.
func validate(s *coordination.LeaseSpec) (wrong field.ErrorList) {
	spec := field.NewPath("spec")
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		wrong = append(wrong, field.Invalid(spec.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := s.LeaseTransitions; n != nil && *n < 0 {
		wrong = append(wrong, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	return wrong
}

// uid draws the id of a new object.
func uid(n *sim.Node) types.UID {
	var id [16]byte
	if _, err := io.ReadFull(n.Entropy("uid"), id[:]); err != nil {
		n.Fail(fmt.Errorf("draw a uid: %w", err))
	}
	h := hex.EncodeToString(id[:])
	return types.UID(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}
