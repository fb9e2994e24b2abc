package checker

// Data says what became of the protected data.
type Data string

// The states of the data.
const (
	// DataRight means that each acknowledged write is part of one history that
	// leads to the final value and respects real time.
	DataRight Data = "right"
	// DataCorrupted means that there is no such history.
	DataCorrupted Data = "corrupted"
	// DataUndecided means that the history has more than [MaxOperations]
	// operations. There is no other reason.
	DataUndecided Data = "undecided"
)

// Facts are the counts behind a verdict. An operation or grant is stale at some
// instant when a later grant of the same resource had already returned by then.
type Facts struct {
	// ClaimOverlaps and BeliefOverlaps count pairs of grants of one resource. A
	// claim lies within its belief, so the second is never below the first.
	ClaimOverlaps  int `json:"claim_overlaps"`
	BeliefOverlaps int `json:"belief_overlaps"`
	// Data is the result of the exact check; LostUpdates counts the acknowledged
	// writes that the final value knows nothing of.
	Data        Data `json:"data"`
	LostUpdates int  `json:"lost_updates"`
	// StaleAccepted counts stale writes that the store took. A stale read that
	// it answered is not counted: alone it changes nothing.
	StaleAccepted int `json:"stale_accepted"`
	// StaleRejected counts stale writes that the fence refused, and stale reads
	// too: a rule that seals on reads stops the section there, before its write.
	StaleRejected int `json:"stale_rejected"`
	// FalseRejects counts reads and writes that were refused although their
	// client was, at the store's instant, the only one with a claim, and no
	// other client had been granted the resource since.
	FalseRejects int `json:"false_rejects"`
	// TokenRegressions counts grants with a token below, TokenDuplicates grants
	// with a token equal to, that of a grant which had returned before they were
	// asked for. Token 0 is no token.
	TokenRegressions int `json:"token_regressions"`
	TokenDuplicates  int `json:"token_duplicates"`
	// Liveness is what the harness found.
	Liveness Liveness `json:"liveness"`
	// Grants and Attempts count Acquires that succeeded and that did not.
	// Contended counts those of both that were pending while another client had
	// a claim on the resource or was acquiring it. Without one, safe says little.
	Grants    int `json:"grants"`
	Attempts  int `json:"attempts"`
	Contended int `json:"contended"`
	// Operations counts reads and writes of any outcome.
	Operations int `json:"operations"`
}
