package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Latest is the name of the link to the folder that was made last.
const Latest = "latest"

// PointLatest makes the link "latest" in a folder lead to another folder in it.
// At every moment there is the old link or the new one. The error says why there
// is none: some systems have no links, and what is there under that name, and is
// no link, stays.
func PointLatest(dir, name string) (err error) {
	link := filepath.Join(dir, Latest)
	info, err := os.Lstat(link)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is no link, and stays as it is", link)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	beside, err := os.MkdirTemp(dir, ".latest-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	made := filepath.Join(beside, Latest)
	if err := os.Symlink(filepath.FromSlash(name), made); err != nil {
		return err
	}
	return os.Rename(made, link)
}
