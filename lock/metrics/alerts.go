package metrics

import _ "embed"

//go:embed alerts.yml
var alerts string

// Alerts returns alerts.yml, a file of alert rules for Prometheus on the metrics of this package.
func Alerts() string { return alerts }
