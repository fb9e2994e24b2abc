package tune

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Least is how many durations a P99 needs.
const Least = 100

const (
	longest   = 24 * time.Hour // of a duration
	mostLines = 1_000_000
)

// Read reads durations: one in each line, with its unit, such as 250ms or 1.5s. Zero says whether a duration may be 0.
// An error says which line is wrong, and what to do.
func Read(r io.Reader, zero bool) ([]time.Duration, error) {
	var all []time.Duration
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		d, err := readDuration(text, zero)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if all = append(all, d); n > mostLines {
			return nil, fmt.Errorf("line %d: there are more than %d lines: give a sample of them", n, mostLines)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: it is too long for a duration: write one duration a line, such as 250ms", len(all)+1)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read line %d: %w", len(all)+1, err)
	}
	if len(all) < Least {
		return nil, fmt.Errorf("it has %d durations, and a P99 needs %d: measure more sections, or give --p50 and --p99",
			len(all), Least)
	}
	return all, nil
}

func readDuration(text string, zero bool) (time.Duration, error) {
	shown := text
	if len(shown) > 40 {
		shown = shown[:40] + "…"
	}
	if text == "" {
		return 0, errors.New("it is empty: write a duration such as 250ms, or remove the line")
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		if strings.ContainsAny(text, "nN") { // NaN, Inf
			return 0, fmt.Errorf("%q is no length of time: remove the line, or write a duration such as 250ms", shown)
		}
		return 0, fmt.Errorf("%q has no unit: write %sms or %ss, whichever it is", shown, shown, shown)
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && len(strings.Fields(text)) > 1:
		return 0, fmt.Errorf("%q is more than one word: write one duration a line, such as 250ms", shown)
	case err != nil:
		return 0, fmt.Errorf("%q is no duration: write a number with its unit, such as 250ms, 1.5s or 2m", shown)
	case d < 0:
		return 0, fmt.Errorf("%q is negative: remove the line, or mend the measurement", shown)
	case d == 0 && !zero:
		return 0, fmt.Errorf("%q: work takes longer than 0: remove the line, or measure in smaller units", shown)
	case d > longest:
		return 0, fmt.Errorf("%q is longer than 24 hours: mend the unit, or remove the line", shown)
	}
	return d, nil
}
