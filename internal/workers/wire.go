package workers

import "encoding/json"

// protocol is the version of the lines. A child of another version is refused.
const protocol = 1

// request is a line from the parent.
type request struct {
	ID  int             `json:"id"`
	Job json.RawMessage `json:"job"`
}

// reply is a line from the child: that it is ready, a step of a job, a result, or an
// error; after either of these it may be spent, see [ErrSpent] and [ErrLast].
type reply struct {
	Ready  int             `json:"ready,omitempty"`
	ID     int             `json:"id"`
	Step   bool            `json:"step,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Spent  bool            `json:"spent,omitempty"`
}
