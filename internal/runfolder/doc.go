// Package runfolder names the folders in which commands store runs, and makes an
// index of them.
//
// [Name] is the name of a folder, [PointLatest] moves the link to the newest one,
// and a [Scanner] makes an index of all: it reads the document of each finished run
// or campaign, and the journal of each campaign that is unfinished. It recognizes
// files by their names alone, so that a folder may be at any place below, and may
// have been made by any command.
package runfolder
