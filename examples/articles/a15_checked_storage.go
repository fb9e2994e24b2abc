package articles

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// errOutdated is what a storage returns for a write with a token that is too low.
var errOutdated = errors.New("token is outdated")

// storage is recipe A15: a storage that compares the token of a write with the last one that it took, and refuses a
// lower one. The comparison and the write are one script. The text promises that a client whose lock has been given to
// another one cannot overwrite what that one has written.
//
// In the text there is one storage, and one number in it. tokenOf is its key: the same for all data, or one for each.
type storage struct {
	client  *redis.Client
	tokenOf func(key string) string
}

func oneToken(string) string { return "storage:last-token" }

func tokenOfEach(key string) string { return "storage:last-token:" + key }

var checkAndSet = redis.NewScript(`
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[2]) < last then
	return 0
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
return 1`)

// Write stores data, unless the token is lower than the last one.
func (s *storage) Write(ctx context.Context, key, data string, token int64) error {
	n, err := checkAndSet.Run(ctx, s.client, []string{"storage:data:" + key, s.tokenOf(key)}, data, token).Int()
	if err == nil && n == 0 {
		return errOutdated
	}
	return err
}

// Read returns the data, "" if there is none.
func (s *storage) Read(ctx context.Context, key string) (string, error) {
	data, err := s.client.Get(ctx, "storage:data:"+key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return data, err
}
