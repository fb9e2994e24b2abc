// Package articles has the locks that people copy, and the storages that check their tokens: recipes as well-read
// articles print them, written anew, each as its reader would paste it, with the choices of the article, right or
// wrong. A file has one recipe, and knows nothing of locksim; recipes.go says what its text promises and what is
// expected of it, glue.go and the files beside it put it on trial.
//
// Never use one to guard anything because it is here: most of them are wrong.
package articles

import (
	"crypto/rand"
	"errors"
	"time"
)

// errNotOwner is what the recipes return when they release what they do not have.
var errNotOwner = errors.New("lock is not held by this owner")

// ttl is the time after which a lock of these recipes ends without a release. poll is the pause between two tries.
const (
	ttl  = 10 * time.Second
	poll = 100 * time.Millisecond
)

// newID is the value of a key by which its owner recognises it. Readers take a UUID.
func newID() string { return rand.Text() }

// polled calls try, with pauses, until it has the lock or the time is over.
func polled(now func() time.Time, timeout time.Duration, try func() (bool, error)) (bool, error) {
	for end := now().Add(timeout); now().Before(end); time.Sleep(poll) {
		if ok, err := try(); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
