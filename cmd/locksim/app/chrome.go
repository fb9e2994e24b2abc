package app

import (
	"bytes"

	"locksim/reports"
	"locksim/reports/chrome"
	"locksim/scenarios/play"
)

// chromeFile is a run for a trace viewer.
func chromeFile(o *play.Outcome, opt reports.Options) (document, error) {
	var b bytes.Buffer
	if err := chrome.Run(&b, o, opt); err != nil {
		return document{}, err
	}
	return document{"trace.chrome.json", b.Bytes()}, nil
}
