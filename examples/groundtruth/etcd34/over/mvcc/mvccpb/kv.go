// Package mvccpb has what the package concurrency of etcd 3.4 uses of it, over the present API.
package mvccpb

import "go.etcd.io/etcd/api/v3/mvccpb"

// DELETE is that of the present API.
const DELETE = mvccpb.Event_DELETE
