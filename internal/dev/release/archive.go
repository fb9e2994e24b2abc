package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode fs.FileMode
	data []byte
}

// unpacked writes files into a folder.
func unpacked(dir string, files []entry) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// archived writes files into an archive, of a kind that its name tells. All of them are of the same time.
func archived(name string, at time.Time, files []entry) error {
	var b bytes.Buffer
	pack := packTar
	if strings.HasSuffix(name, ".zip") {
		pack = packZip
	}
	if err := pack(&b, at.UTC(), files); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

func packTar(to *bytes.Buffer, at time.Time, files []entry) error {
	compressed := gzip.NewWriter(to)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at,
			Format: tar.FormatPAX})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), compressed.Close())
}

func packZip(to *bytes.Buffer, at time.Time, files []entry) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err == nil {
			_, err = part.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// checksums writes the file with the checksums of some archives, as sha256sum -c reads it.
func checksums(name string, archives []string) (string, error) {
	var b strings.Builder
	for _, archive := range archives {
		data, err := os.ReadFile(archive)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(archive))
	}
	return name, os.WriteFile(name, []byte(b.String()), 0o644)
}
