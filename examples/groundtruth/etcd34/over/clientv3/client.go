// Package clientv3 has what the package concurrency of etcd 3.4 uses of its client, over the present one.
package clientv3

import v3 "go.etcd.io/etcd/client/v3"

// Client is that of the present client.
type Client = v3.Client

// LeaseID is that of the present client.
type LeaseID = v3.LeaseID

// Cmp is that of the present client.
type Cmp = v3.Cmp

// WatchResponse is that of the present client.
type WatchResponse = v3.WatchResponse

// NoLease is that of the present client.
const NoLease LeaseID = v3.NoLease

// The functions of the present client.
var (
	Compare          = v3.Compare
	CreateRevision   = v3.CreateRevision
	OpPut            = v3.OpPut
	OpGet            = v3.OpGet
	WithLease        = v3.WithLease
	WithRev          = v3.WithRev
	WithFirstCreate  = v3.WithFirstCreate
	WithLastCreate   = v3.WithLastCreate
	WithMaxCreateRev = v3.WithMaxCreateRev
)
