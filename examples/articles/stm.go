package articles

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// memory is the recipe STM: etcd's software transactional memory in place of a lock. The text promises that no change
// is lost: a transaction whose values have changed is made again.
type memory struct{ client *clientv3.Client }

// Change gives the value to change, and writes what it returns. change may be called several times.
func (m memory) Change(ctx context.Context, name string, change func(value string) (string, error)) error {
	_, err := concurrency.NewSTM(m.client, func(s concurrency.STM) error {
		value, err := change(s.Get(name))
		if err == nil {
			s.Put(name, value)
		}
		return err
	}, concurrency.WithAbortContext(ctx))
	return err
}
