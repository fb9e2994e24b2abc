// Package runfolder names the folders of runs, and makes an index of them.
//
// [Name] returns the name of a folder, [PointLatest] moves the link to the
// newest one, and a [Scanner] makes an index of all: of completed runs and
// campaigns by their documents, and of running campaigns by their journals. It
// recognizes a file by its name alone, so that a folder may be at any depth,
// and of any command.
package runfolder
