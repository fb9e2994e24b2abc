package redis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locksim/sim/redis/redisclient"
)

// The options that are set by name are those of the version in go.mod.
func TestOptionsByName(t *testing.T) {
	quiet := &redis.Options{
		Protocol: 2, DisableIdentity: true,
		DisableIndentity:         true, //nolint:staticcheck // the only name in older versions
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		MaxRetries:               -1, DialerRetries: 1, PipelinePoolSize: -1, PoolSize: 16,
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10, DialTimeout: 5 * time.Second,
	}
	stock := &redis.Options{PoolSize: 10, ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		PipelineReadBufferSize: 4 << 10, PipelineWriteBufferSize: 4 << 10}
	unexported := cmpopts.IgnoreUnexported(redis.Options{}, maintnotifications.Config{})
	if d := cmp.Diff(quiet, redisclient.Quiet(), unexported); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(stock, redisclient.Stock(), unexported); d != "" {
		t.Error(d)
	}
}
