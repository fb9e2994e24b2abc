package metrics

import "time"

// clock is the part of a lock.Clock that is needed here.
type clock interface{ Now() time.Time }

// machine is the machine's clock. Its readings are monotonic.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }
