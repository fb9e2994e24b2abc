package etcdlock

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"locksim/lock"
)

// outcome makes lock.ErrOutcomeUnknown part of err, unless err proves that etcd did nothing: it refused the request
// before it proposed it. A timeout is no such proof, nor is a connection that broke.
func outcome(err error) error {
	if refused, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		switch refused.Code() {
		case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.Unauthenticated,
			codes.PermissionDenied, codes.Unimplemented:
			return err
		}
	}
	return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}
