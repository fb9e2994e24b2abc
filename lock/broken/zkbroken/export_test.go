package zkbroken

// Right is the lock of the specimens without a mistake.
func Right() Specimen { return Specimen{Name: "zk-right"} }
