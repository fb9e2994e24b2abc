// Package manager tries the manager of controller-runtime, unmodified, on the API servers of package locksim/sim/kube:
// two managers campaign for one lease.
//
// It is a module of its own, since controller-runtime needs the client-go of its time: the one of the main file of the
// module is v0.18.4, and go-0.17.mod has v0.17.2.
package manager
