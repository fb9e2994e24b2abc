package kube

import (
	coordination "k8s.io/api/coordination/v1"

	"locksim/faults"
	"locksim/sim/trace"
)

// EditKeys implements [faults.KeyEditor], by kubectl delete and by a patch of the holder's identity.
func (a *apiServer) EditKeys(how faults.Edit) (done bool, err error) {
	s := a.store
	var found []string
	if !a.node.Down() && !s.node.Down() {
		for _, key := range s.watched {
			if o := s.get(key); o != nil {
				found = append(found, key)
			}
		}
	}
	a.node.Strike(trace.Operate{Does: string(how), Of: found})
	for _, key := range found {
		before := s.get(key)
		var next *coordination.Lease
		if how == faults.EditOverwrite {
			next = before.lease.DeepCopy()
			next.Spec.HolderIdentity = new(faults.Operator)
		}
		s.put(key, version(before), next, "", a.node.Name())
	}
	return len(found) > 0, nil
}
