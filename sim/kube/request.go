package kube

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordination "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"locksim/sim"
)

var (
	resource = schema.GroupResource{Group: coordination.GroupName, Resource: "leases"}
	kind     = schema.GroupKind{Group: coordination.GroupName, Kind: "Lease"}
)

// base is the path of the leases of all namespaces, and of namespaces.
const base = "/apis/" + coordination.GroupName + "/v1/"

// verb is what a request asks for, by Kubernetes' names.
type verb string

const (
	verbGet    verb = "get"
	verbList   verb = "list"
	verbWatch  verb = "watch"
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbPatch  verb = "patch"
	verbDelete verb = "delete"
)

// request is what a client asks for.
type request struct {
	verb            verb
	namespace, name string // "" for all namespaces, and for all leases
	dry             bool   // nothing is to be written
	from            string // a read must not be older, and a watch begins after it; "" for the newest version
	most            int    // so many items of a list; 0 for all
	limit           time.Duration
	contentType     string
	body            []byte
}

// key is that of the lease, in the store.
func (r request) key() string { return Key(r.namespace, r.name) }

// The errors of a request that is not of these servers, and of one that is not of Kubernetes.
var (
	errUnknown   = errors.New("it is not modelled")
	errNotServed = errors.New("405: Method Not Allowed")
)

// errWatchList is the error of a watch that asks for all leases first, in the words of a server without the feature
// gate WatchList. Clients ask for a list then.
var errWatchList = apierrors.NewInvalid(schema.GroupKind{Group: meta.GroupName, Kind: "ListOptions"}, "",
	field.ErrorList{field.Forbidden(field.NewPath("sendInitialEvents"),
		"sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")})

// options are those that requests may have. Those with which an answer is only printed or signed in another way are
// among them; another one would be ignored.
var options = []string{
	"allowWatchBookmarks", "continue", "dryRun", "fieldManager", "fieldSelector", "fieldValidation", "labelSelector",
	"limit",
	"pretty", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout", "timeoutSeconds", "watch",
}

// read reads a request. The error is [errUnknown], [errNotServed] or [errWatchList].
func read(q *http.Request, body []byte) (r request, err error) {
	path, found := strings.CutPrefix(q.URL.Path, base)
	parts := []string{"", "leases"}
	if path, ok := strings.CutPrefix(path, "namespaces/"); ok {
		parts = strings.Split(path, "/")
	} else if path != "leases" || q.Method != http.MethodGet {
		found = false
	}
	query := q.URL.Query()
	if !found || len(parts) < 2 || len(parts) > 3 || parts[1] != "leases" {
		return request{}, errUnknown
	}
	for name := range query {
		if !slices.Contains(options, name) || name == "fieldValidation" && query.Get(name) == "Strict" {
			return request{}, errUnknown
		}
	}
	r = request{namespace: parts[0], limit: requestTimeout, body: body, dry: query.Has("dryRun")}
	r.contentType, _, _ = mime.ParseMediaType(q.Header.Get("Content-Type"))
	if wants, err := time.ParseDuration(query.Get("timeout")); err == nil && wants > 0 {
		r.limit = min(wants, requestTimeout)
	}
	verbs := map[string]verb{http.MethodGet: verbList, http.MethodPost: verbCreate}
	if len(parts) == 3 {
		r.name = parts[2]
		verbs = map[string]verb{
			http.MethodGet: verbGet, http.MethodPut: verbUpdate, http.MethodPatch: verbPatch, http.MethodDelete: verbDelete,
		}
	} else if q.Method == http.MethodDelete {
		return request{}, errUnknown // of all leases of a namespace
	}
	if r.verb = verbs[q.Method]; r.verb == "" {
		return request{}, errNotServed
	}
	switch r.verb {
	case verbList:
		err = r.many(query)
	case verbGet:
		r.from = query.Get("resourceVersion")
	case verbCreate:
		if l, ok := r.lease(); ok { // next says what is wrong with it otherwise
			r.name = l.Name
		}
	case verbDelete:
		o, err := r.deleteOptions()
		r.dry = r.dry || err == nil && len(o.DryRun) > 0
	case verbPatch:
		if r.contentType != string(types.MergePatchType) && r.contentType != string(types.JSONPatchType) {
			err = errUnknown
		}
	}
	return r, err
}

// many reads a list or a watch.
func (r *request) many(query url.Values) (err error) {
	r.from = query.Get("resourceVersion")
	if query.Has("sendInitialEvents") {
		return errWatchList
	}
	for _, other := range []string{"labelSelector", "continue", "resourceVersionMatch"} {
		if query.Get(other) != "" {
			return errUnknown
		}
	}
	if selected := query.Get("fieldSelector"); selected != "" {
		name, ok := strings.CutPrefix(selected, "metadata.name=")
		if !ok || strings.ContainsAny(name, ",=!") {
			return errUnknown
		}
		r.name = name
	}
	r.most, _ = strconv.Atoi(query.Get("limit"))
	if watch, _ := strconv.ParseBool(query.Get("watch")); watch {
		r.verb, r.limit = verbWatch, watchTimeout
		if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
			r.limit = time.Duration(seconds) * time.Second
		}
	}
	return nil
}

// lease is that of the body.
func (r request) lease() (l *coordination.Lease, ok bool) {
	o, err := decode(r.body)
	l, ok = o.(*coordination.Lease)
	return l, ok && err == nil
}

// unreadable is the error of a body that is no lease.
func (r request) unreadable() *apierrors.StatusError {
	o, err := decode(r.body)
	if len(r.body) == 0 {
		err = errors.New("couldn't get version/kind; json parse error: unexpected end of JSON input")
	}
	if o == nil && err != nil && !runtime.IsNotRegisteredError(err) {
		const most = 30 // letters that Kubernetes repeats
		said := string(r.body)
		switch {
		case said == "":
			said = "<empty>"
		case len(said) > most:
			said = said[:most] + " ..."
		}
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the object provided is unrecognized (must be of type Lease): %v (%s)", err, said))
	}
	is := "an object"
	if o != nil {
		is = o.GetObjectKind().GroupVersionKind().Kind
	}
	var typed meta.TypeMeta
	if json.Unmarshal(r.body, &typed) == nil && typed.Kind != "" {
		is = typed.Kind
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a Lease: %v", is, "v1", err))
}

// conflict is the error of a change that was made from another version than what is there.
func (r request) conflict() *apierrors.StatusError {
	return apierrors.NewConflict(resource, r.name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// broken is an error of the server itself, which Kubernetes answers without a reason.
func broken(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: meta.Status{
		Status: meta.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// next is the lease as it is to be written, from what is there: the same one if nothing is to be changed, and nil if
// it is to be deleted.
func (r request) next(n *sim.Node, before *object, made int) (*coordination.Lease, *apierrors.StatusError) {
	switch r.verb {
	case verbDelete:
		return nil, r.mayDelete(before)
	case verbPatch:
		return r.patched(before)
	}
	l, ok := r.lease()
	switch {
	case !ok:
		return nil, r.unreadable()
	case l.Namespace != "" && l.Namespace != r.namespace:
		return nil, apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	l.TypeMeta = meta.TypeMeta{APIVersion: coordination.SchemeGroupVersion.String(), Kind: kind.Kind}
	l.Namespace = r.namespace
	if r.verb == verbCreate {
		return r.created(n, l, before, made)
	}
	if l.Name != r.name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", l.Name, r.name))
	}
	var uid types.UID
	if before != nil {
		uid = before.lease.UID
	}
	if l.UID != "" && l.UID != uid { // it is another object of that name
		return nil, apierrors.NewConflict(resource, r.name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: /registry/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
				"Precondition failed: UID in precondition: %s, UID in object meta: %s", r.key(), l.UID, uid))
	}
	if _, err := strconv.ParseUint(orZero(l.ResourceVersion), 10, 64); err != nil {
		return nil, broken(err)
	}
	if before == nil { // leases allow to be made by a PUT
		return r.created(n, l, before, made)
	}
	switch l.ResourceVersion {
	case "":
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: resource.Group, Kind: resource.Resource}, r.name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
	case before.lease.ResourceVersion:
	default:
		return nil, r.conflict()
	}
	return r.changed(l, before)
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// suffix has the letters of a generated name, of which it has five.
const suffix = "bcdfghjklmnpqrstvwxz2456789"

// created is a new lease.
func (r request) created(n *sim.Node, l *coordination.Lease, before *object, made int) (
	*coordination.Lease, *apierrors.StatusError,
) {
	id := entropy(n, made)
	if l.Name == "" && l.GenerateName != "" {
		l.Name = l.GenerateName
		for _, b := range id[16:] {
			l.Name += string(suffix[int(b)%len(suffix)])
		}
	}
	wrong := validation.ValidateObjectMeta(&l.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if wrong = append(wrong, validate(&l.Spec)...); len(wrong) > 0 {
		return nil, apierrors.NewInvalid(kind, l.Name, wrong)
	}
	switch {
	case r.verb == verbCreate && l.ResourceVersion != "":
		return nil, broken(errors.New("resourceVersion should not be set on objects to be created"))
	case before != nil:
		return nil, apierrors.NewAlreadyExists(resource, l.Name)
	}
	h := hex.EncodeToString(id[:16])
	l.UID = types.UID(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
	l.CreationTimestamp, l.Finalizers = meta.NewTime(n.Now()), orNil(l.Finalizers)
	return l, nil
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// changed is a lease that is there, with other contents.
func (r request) changed(l *coordination.Lease, before *object) (*coordination.Lease, *apierrors.StatusError) {
	l.UID, l.CreationTimestamp = before.lease.UID, before.lease.CreationTimestamp
	l.GenerateName, l.ManagedFields = before.lease.GenerateName, nil
	l.Finalizers = orNil(l.Finalizers)
	if wrong := validate(&l.Spec); len(wrong) > 0 {
		return nil, apierrors.NewInvalid(kind, r.name, wrong)
	}
	if equality.Semantic.DeepEqual(l, before.lease) {
		return before.lease, nil
	}
	return l, nil
}

// patched is a lease that is there, with the changes of a patch.
func (r request) patched(before *object) (*coordination.Lease, *apierrors.StatusError) {
	if before == nil {
		return nil, apierrors.NewNotFound(resource, r.name)
	}
	is, err := json.Marshal(before.lease)
	if err == nil && r.contentType == string(types.JSONPatchType) {
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(r.body); err == nil {
			is, err = p.Apply(is)
		}
	} else if err == nil {
		is, err = jsonpatch.MergePatch(is, r.body)
	}
	l := new(coordination.Lease)
	if err == nil {
		err = json.Unmarshal(is, l)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if l.ResourceVersion != before.lease.ResourceVersion {
		return nil, r.conflict()
	}
	return r.changed(l, before)
}

// mayDelete is the error of a DELETE whose preconditions do not hold.
func (r request) mayDelete(before *object) *apierrors.StatusError {
	o, err := r.deleteOptions()
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if before == nil {
		return apierrors.NewNotFound(resource, r.name)
	}
	p := o.Preconditions
	of := schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != before.lease.UID:
		return apierrors.NewConflict(of, r.name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in "+
			"record (%s). The object might have been deleted and then recreated", *p.UID, before.lease.UID))
	case p.ResourceVersion != nil && *p.ResourceVersion != before.lease.ResourceVersion:
		return apierrors.NewConflict(of, r.name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match "+
			"the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, before.lease.ResourceVersion))
	}
	return nil
}

// deleteOptions are those of the body, if it has some.
func (r request) deleteOptions() (o meta.DeleteOptions, err error) {
	if len(r.body) == 0 {
		return o, nil
	}
	if r.contentType == "application/json" {
		err = json.Unmarshal(r.body, &o)
		return o, err
	}
	found, err := decode(r.body)
	if d, ok := found.(*meta.DeleteOptions); ok {
		return *d, err
	}
	return o, err
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

// entropy are the random bytes of the made-th object of a server: its id, and the end of its name.
func entropy(n *sim.Node, made int) []byte {
	id := make([]byte, 21)
	if _, err := io.ReadFull(n.Entropy(fmt.Sprint("object ", made)), id); err != nil {
		n.Fail(fmt.Errorf("draw a uid: %w", err))
	}
	return id
}
