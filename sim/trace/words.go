package trace

import "time"

// Words tell an event to readers, in phrases that begin with a verb: the subject
// is written before them, or in the heading of a column.
type Words struct {
	// Story is the event in the story of a run, such as "PAUSED for 1s". What a
	// fault does is in capitals.
	Story string
	// Untold is why stories leave the event out, where Story is empty.
	Untold string

	// The rest is for pictures: the words for a view without a lane may lack it.

	// Lane is the event on a lane of a picture, such as "paused 1s". It is empty
	// for an event that is in no picture, or that ends another one.
	Lane string
	// EndedBy are the kinds of the events that end a fault which lasts.
	EndedBy []string
	// Name tells a fault from others of its kind on the same process. The event
	// that ends it has the same.
	Name string
}

// View is from where an event is told.
type View struct {
	// At is the time of the event.
	At time.Duration
	// Lane is the lane on which a picture shows it, "" in a story.
	Lane string
	// Stale says that a later grant existed when the store decided on an operation.
	Stale bool
	// Deaf says that the client does not look for notices of a loss.
	Deaf bool
	// Several says that the run has several resources: each is named.
	Several bool
}

// words are the same details in a story or, for a lane, in a picture.
func (v View) words(story, lane, details string) Words {
	if v.Lane != "" {
		return Words{Story: story + details, Lane: lane + details}
	}
	return Words{Story: story + details}
}

// The reasons for which stories leave out events.
const (
	ofNetwork  = "the messages are in the trace and in pictures"
	ofServer   = "a client's own steps tell what it came to"
	ofPictures = "pictures have it on the lane of its server"
	ofStep     = "another step of the client tells it"
	ofStore    = "the store's own line tells it"
	ofNotice   = "it is told when the client learns of it"
	ofNothing  = "nothing has changed"
)
