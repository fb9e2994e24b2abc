package machine

import (
	"os"
	"regexp"
	"testing"
)

func TestOver(t *testing.T) {
	mounts := []mount{{"/dev/a", "/", "ext4"}, {"none", "/data", "overlay"}, {"/dev/b", "/data", "xfs"},
		{"shm", "/data/fast", "tmpfs"}}
	for folder, want := range map[string]string{
		"/": "ext4", "/database": "ext4", "/data": "xfs", "/data/x": "xfs", "/data/fast": "tmpfs", "/data/fast/x": "tmpfs",
		"/data/faster": "xfs",
	} {
		if got := over(mounts, folder).kind; got != want {
			t.Errorf("%s is on %s, want %s", folder, got, want)
		}
	}
	if got := over(nil, "/").kind; got != unknown {
		t.Errorf("without mounts it is %q", got)
	}
}

func TestFileSystem(t *testing.T) {
	if _, err := os.Stat("/proc/self/mounts"); err != nil {
		t.Skip("the system has no /proc")
	}
	if kind, device := FileSystem("/proc"); kind != "proc" || device == unknown {
		t.Errorf("/proc is of type %q on %q", kind, device)
	}
}

func TestLoad(t *testing.T) {
	if _, err := os.Stat("/proc/loadavg"); err != nil {
		t.Skip("the system has no /proc")
	}
	if load := Load(); !regexp.MustCompile(`^\d+\.\d+, \d+\.\d+ and \d+\.\d+$`).MatchString(load) {
		t.Errorf("the load is %q", load)
	}
}
