package works

import (
	"bytes"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/reports/csv"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/scenarios/outcome/tunings"
)

// TuningPage is the page of a tuning in its folder.
const TuningPage = "tune.html"

// StoreTuning writes a tuning in every form into a folder. again are the words that make it again, after the name of
// the program.
func StoreTuning(c *console.Console, dir string, t *tunings.Tuning, again string) error {
	var page bytes.Buffer
	if err := html.Tuning(&page, t, html.TuningOptions{Again: c.PublicName() + " " + again}); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := markdown.Tuning(&text, t); err != nil {
		return err
	}
	table, err := publish.CSVFile("tune.csv", csv.Tuning(t))
	if err != nil {
		return err
	}
	whole, err := t.JSON()
	if err != nil {
		return err
	}
	return outfile.WriteAll(dir, []outfile.Document{{Name: TuningPage, Data: page.Bytes()}, table,
		{Name: "tune.json", Data: whole}, {Name: "tune.md", Data: text.Bytes()}})
}

// LeadersPage is the page of elections in its folder.
const LeadersPage = "leaders.html"

// StoreLeaders writes what the times of elections mean in every form into a folder. again is as of [StoreTuning].
func StoreLeaders(c *console.Console, dir string, l *tunings.Leaders, again string) error {
	var page, text bytes.Buffer
	if err := html.Leaders(&page, l, html.TuningOptions{Again: c.PublicName() + " " + again}); err != nil {
		return err
	}
	if err := markdown.Leaders(&text, l); err != nil {
		return err
	}
	table, err := publish.CSVFile("leaders.csv", csv.Leaders(l))
	if err != nil {
		return err
	}
	whole, err := l.JSON()
	if err != nil {
		return err
	}
	return outfile.WriteAll(dir, []outfile.Document{{Name: LeadersPage, Data: page.Bytes()}, table,
		{Name: "leaders.json", Data: whole}, {Name: "leaders.md", Data: text.Bytes()}})
}
