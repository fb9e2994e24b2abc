// Package etcdserverpb has what the package concurrency of etcd 3.4 uses of it, over the present API.
package etcdserverpb

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// ResponseHeader is that of the present API.
type ResponseHeader = pb.ResponseHeader
