package etcdbroken

// Right is the lock of the specimens without a mistake.
func Right() Specimen { return Specimen{Name: "etcd-right", Tokens: true} }
