package redisserver

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
)

// oldest is the first version whose scripts replicate effects and see one instant of time throughout.
const oldest = 7

var version = regexp.MustCompile(`v=(\d+)\.`)

// find returns the path of a redis-server that is new enough. It looks once for the whole program.
var find = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath(binary)
	if err != nil {
		return "", fmt.Errorf("there is no %s on the PATH (Debian and Ubuntu: apt-get install redis-server)", binary)
	}
	said, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version fails: %w", path, err)
	}
	return path, newEnough(path, string(said))
})

func newEnough(path, said string) error {
	m := version.FindStringSubmatch(said)
	if m == nil {
		return fmt.Errorf("%s does not tell its version in %q", path, said)
	}
	if major, err := strconv.Atoi(m[1]); err != nil || major < oldest {
		return fmt.Errorf("%s is version %s: version %d or later is needed", path, m[1], oldest)
	}
	return nil
}
