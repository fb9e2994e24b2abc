package kube

import (
	"bytes"
	"fmt"
	"strings"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// codecs write and read what clients and API servers send: JSON, or the protobuf of Kubernetes.
var codecs = newCodecs()

func newCodecs() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	utilruntime.Must(coordination.AddToScheme(scheme))
	meta.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme)
}

// decode reads a body of either form.
func decode(body []byte) (runtime.Object, error) {
	o, _, err := codecs.UniversalDeserializer().Decode(body, nil, nil)
	return o, err
}

// preferred is the content type that a client prefers of those that it accepts.
func preferred(accept string) string {
	for wanted := range strings.SplitSeq(accept, ",") {
		wanted, _, _ = strings.Cut(strings.TrimSpace(wanted), ";")
		if wanted == runtime.ContentTypeProtobuf || wanted == runtime.ContentTypeJSON {
			return wanted
		}
	}
	return runtime.ContentTypeJSON
}

// encode writes a body in the form that a client prefers.
func encode(o runtime.Object, accept string) (body []byte, contentType string, err error) {
	form := preferred(accept)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), form)
	if !ok {
		return nil, "", fmt.Errorf("there is no serializer of %s", form)
	}
	var b bytes.Buffer
	err = info.Serializer.Encode(o, &b)
	return b.Bytes(), form, err
}

// said is what a body says in a few words: the holder and the version of a lease, or the reason of an error.
func said(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	switch o, _ := decode(body); o := o.(type) {
	case *meta.Status:
		return string(o.Reason)
	case *coordination.Lease:
		text := "holder " + orNone(holder(o))
		if o.ResourceVersion != "" {
			text += ", version " + o.ResourceVersion
		}
		if n := o.Spec.LeaseTransitions; n != nil {
			text += fmt.Sprintf(", transitions %d", *n)
		}
		return text
	}
	return ""
}
