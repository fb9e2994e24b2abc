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

// PointLatest makes the link "latest" in a folder point to another folder in it.
// It replaces the link in one step: at every moment there is the old link or the
// new one. It returns an error on systems without links, and where a file or folder
// of that name is not a link: it does not replace that.
func PointLatest(dir, name string) (err error) {
	link := filepath.Join(dir, Latest)
	info, err := os.Lstat(link)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is not a link, and is left as it is", link)
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
