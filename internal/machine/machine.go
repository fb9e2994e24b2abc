// Package machine describes the machine on which figures are measured, without its name.
package machine

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// unknown is what cannot be found out, such as anything without /proc.
const unknown = "unknown"

// Processor is the model of the processor, "unknown" where the system does not say it.
func Processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

// Load is how many processes wanted a processor in the last minute, five and fifteen minutes on average, such as "0.52,
// 0.40 and 0.31"; "unknown" where the system does not say it.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(text))
	if err != nil || len(f) < 3 {
		return unknown
	}
	return f[0] + ", " + f[1] + " and " + f[2]
}

// FileSystem is the type of the file system that a folder is on, such as ext4, and its device; "unknown" where the
// system does not say it.
func FileSystem(folder string) (kind, device string) {
	file, err := os.Open("/proc/self/mounts")
	if err != nil {
		return unknown, unknown
	}
	defer file.Close() //nolint:errcheck // it was read
	var mounts []mount
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 2 {
			mounts = append(mounts, mount{device: f[0], at: f[1], kind: f[2]})
		}
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	m := over(mounts, folder)
	return m.kind, m.device
}

// mount is a file system, and the folder at which it begins.
type mount struct{ device, at, kind string }

// over is the mount that a folder is on: the one that begins nearest to it, and of two at one place the later.
func over(mounts []mount, folder string) mount {
	best := mount{device: unknown, kind: unknown}
	for _, m := range mounts {
		inside := folder == m.at || m.at == "/" || strings.HasPrefix(folder, m.at+"/")
		if inside && len(m.at) >= len(best.at) {
			best = m
		}
	}
	return best
}
