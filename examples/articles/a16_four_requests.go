package articles

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// stepwise is recipe A16: a storage that compares tokens, too, by four steps of its own: it reads the current token,
// compares, writes the data, and then writes the token. The text promises what that of A15 does.
type stepwise struct {
	client *redis.Client
}

// Write stores data, unless the token is lower than the current one.
func (s *stepwise) Write(ctx context.Context, key, data string, token int64) error {
	current, err := s.client.Get(ctx, "fence:token:"+key).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if token < current {
		return errOutdated
	}
	if err := s.client.Set(ctx, "fence:data:"+key, data, 0).Err(); err != nil {
		return err
	}
	return s.client.Set(ctx, "fence:token:"+key, token, 0).Err()
}

// Read returns the data, "" if there is none.
func (s *stepwise) Read(ctx context.Context, key string) (string, error) {
	data, err := s.client.Get(ctx, "fence:data:"+key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return data, err
}
