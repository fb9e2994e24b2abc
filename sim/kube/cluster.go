// Package kube has the control plane of a Kubernetes cluster for a simulated world, as far as leases go: API servers
// that speak HTTP/1.1, the store behind them, and an admission webhook that they ask before each write.
//
// The store is one server, kv0. Each change has a number of its own, the resourceVersion, and is on the disk before it
// is acknowledged. An API server keeps nothing but a cache, which follows the store's changes: a read without a
// resourceVersion asks the store, and one with resourceVersion=0 is answered from the cache, which is stale while the
// link to the store is cut. docs/explanation/limits.md has what is not as in Kubernetes.
//
// An API server answers as Kubernetes' own handlers and registry, 1.37.2, do: TestAnswersOfKubernetes has answers of
// those on record, and TestBesideKubernetes compiles them. What they do not show, how a cache follows a store and what
// a cut does, is by the Kubernetes API concepts (kubernetes.io/docs/reference/using-api/api-concepts). The types and
// errors are those of k8s.io/api and k8s.io/apimachinery, for which the package is a module of its own.
package kube

import (
	"fmt"
	"strings"

	"locksim/sim"
	"locksim/sim/httpserver"
)

// Balancer is the name under which clients dial the API servers: each gets one of them, and another one while that is
// down, as behind a load balancer that asks the servers for their health.
const Balancer = "kubernetes"

// Port is that of the API servers.
const Port = 6443

// The prefixes of the names of servers: api0, api1, …, kv0, hook0.
const (
	APIPrefix     = "api"
	StorePrefix   = "kv"
	WebhookPrefix = "hook"
)

// APIServers are so many API servers. They need a [Store], which is built after them.
type APIServers int

// Build implements [sim.Kind].
func (n APIServers) Build(b *sim.Builder) {
	var nodes []*sim.Node
	for i := range int(n) {
		name := fmt.Sprint(APIPrefix, i)
		nodes = append(nodes, b.Add(name, Port, func(node *sim.Node) sim.Server { return newAPIServer(node) }))
	}
	b.Alias(Balancer, Port, httpserver.Balanced(nodes))
}

// Stores is the store behind the API servers that were built before. There is one.
type Stores int

// Build implements [sim.Kind].
func (n Stores) Build(b *sim.Builder) {
	if n != 1 {
		b.Fail(fmt.Errorf("the world has %d stores of Kubernetes: there can be one", int(n)))
		return
	}
	node := b.Add(StorePrefix+"0", 2379, func(node *sim.Node) sim.Server { return newStore(node) })
	if node == nil {
		return
	}
	for _, a := range apiServers(b) {
		b.Link(a.node, node)
		a.store = node.Server().(*store)
		a.store.followers = append(a.store.followers, a)
	}
}

// Webhooks is an admission webhook of the API servers that were built before. There is one.
type Webhooks int

// Build implements [sim.Kind].
func (n Webhooks) Build(b *sim.Builder) {
	if n != 1 {
		b.Fail(fmt.Errorf("the world has %d webhooks of Kubernetes: there can be one", int(n)))
		return
	}
	node := b.Add(WebhookPrefix+"0", 443, func(node *sim.Node) sim.Server { return &webhook{} })
	if node == nil {
		return
	}
	for _, a := range apiServers(b) {
		b.Link(a.node, node)
		a.webhook = node
	}
}

// apiServers are those that were built before.
func apiServers(b *sim.Builder) (all []*apiServer) {
	for i := 0; ; i++ {
		n := b.Node(fmt.Sprint(APIPrefix, i))
		if n == nil {
			return all
		}
		all = append(all, n.Server().(*apiServer))
	}
}

// webhook admits every object. It has no clients but the API servers, and no state.
type webhook struct{}

// Accept implements [sim.Server]: it refuses, since no client of a world calls a webhook.
func (*webhook) Accept(*sim.ServerConn) sim.Session { return nil }

// Key is the name of a lease in the ground truth: leases/NAMESPACE/NAME.
func Key(namespace, name string) string {
	return strings.Join([]string{"leases", namespace, name}, "/")
}
