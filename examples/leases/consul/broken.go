package consul

import (
	"time"

	"github.com/hashicorp/consul/api"

	"locksim/lock"
	"locksim/scenarios"
)

// Specimens are locks that use Consul wrongly on purpose: each has one mistake, and the rest is right. Never use one.
func Specimens() []scenarios.Lock {
	return []scenarios.Lock{
		specimen("broken/consul-no-delay", manner{delay: time.Millisecond},
			"its sessions have a lock-delay of 1 ms, so the next client enters before the holder can learn it."),
		specimen("broken/consul-deaf", manner{deaf: true},
			"its work goes on when the channel of Lock is closed."),
		specimen("broken/consul-delete", manner{behavior: api.SessionBehaviorDelete, lockIndex: true},
			"its sessions have the behavior delete, and its token is the LockIndex, which begins with 1 again."),
		specimen("broken/consul-lock-index", manner{lockIndex: true},
			"its token is the LockIndex, which a plain PUT to the key sets back to 0."),
		specimen("broken/consul-stale-token", manner{stale: true, lockIndex: true},
			"it reads its token in the consistency mode stale, from a server that may not know of the grant yet."),
	}
}

func specimen(name string, m manner, what string) scenarios.Lock {
	l := underTest(name, m, "A lock that is wrong on purpose: "+what)
	l.ForWhom, l.Promise = "Tests: it is wrong on purpose.", lock.Promise{}
	return l
}
