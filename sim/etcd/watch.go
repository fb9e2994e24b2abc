package etcd

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"locksim/sim/trace"
)

// progressRound is how often a member tells a watcher that asks for it that nothing has happened; a tenth more at most.
const progressRound = 10 * time.Minute

// syncRound is how often a member sends what they have missed to watchers that began in the past.
const syncRound = 100 * time.Millisecond

// watcher is one watch of a stream.
type watcher struct {
	session   *session
	call      *call
	id        int64
	request   *pb.WatchCreateRequest
	next      int64 // the revision that it has not seen yet
	inThePast bool  // it has not caught up
	told      bool  // since it was last looked at for a notice of progress
}

func (x *session) watch(c *call, r *pb.WatchRequest) {
	switch {
	case r.GetCreateRequest() != nil:
		x.createWatch(c, r.GetCreateRequest())
	case r.GetCancelRequest() != nil:
		id := r.GetCancelRequest().WatchId
		if i := slices.IndexFunc(x.server.watchers, func(w *watcher) bool { return w.call == c && w.id == id }); i >= 0 {
			x.server.watchers = slices.Delete(x.server.watchers, i, i+1)
			x.record(watchCancel(id), nil)
			c.reply(&pb.WatchResponse{Header: x.header(), WatchId: id, Canceled: true})
		}
	case r.GetProgressRequest() != nil:
		for _, w := range x.server.watchers {
			if w.call == c && w.inThePast {
				return // the answer would be a promise that is not kept yet
			}
		}
		c.reply(&pb.WatchResponse{Header: x.header(), WatchId: noWatch})
	}
}

// noWatch is the id in answers that are about no watch.
const noWatch = -1

func (x *session) createWatch(c *call, r *pb.WatchCreateRequest) {
	s := x.server
	if len(r.Key) == 0 {
		r.Key = []byte{0} // the smallest key
	}
	id := r.WatchId
	used := func(id int64) bool {
		return slices.ContainsFunc(s.watchers, func(w *watcher) bool { return w.call == c && w.id == id })
	}
	refuse := func(why string) {
		c.reply(&pb.WatchResponse{Header: x.header(), WatchId: noWatch, Created: true, Canceled: true, CancelReason: why})
	}
	switch {
	case r.StartRevision < 0:
		refuse(rpctypes.ErrCompacted.Error())
		return
	case len(r.RangeEnd) > 0 && !bytes.Equal(r.RangeEnd, []byte{0}) && bytes.Compare(r.Key, r.RangeEnd) >= 0:
		refuse("mvcc: watcher range is empty")
		return
	case id == 0:
		for id = x.watches[c]; used(id); id++ {
		}
		x.watches[c] = id + 1
	case used(id):
		refuse("mvcc: duplicate watch ID provided on the WatchStream")
		return
	}
	w := &watcher{session: x, call: c, id: id, request: r, next: cmp.Or(r.StartRevision, s.keyspace.revision+1)}
	w.inThePast = w.next <= s.keyspace.revision
	s.watchers = append(s.watchers, w)
	x.record(watchCreate{request: r}, trace.Text("created"))
	c.reply(&pb.WatchResponse{Header: x.header(), WatchId: id, Created: true})
	if r.ProgressNotify {
		w.reportProgress()
	}
	if w.inThePast {
		s.syncWatchers()
	}
}

// reportProgress plans the next notice of progress.
func (w *watcher) reportProgress() {
	s := w.session.server
	life := s.life
	draw := s.node.Draw("progress").Num(int64(s.node.Virtual())).Num(w.id)
	s.node.After(progressRound+time.Duration(draw.Between(0, int64(progressRound/10))), func() {
		s.node.WhenServing(func() {
			if s.life != life || !slices.Contains(s.watchers, w) {
				return
			}
			if !w.told && !w.inThePast {
				w.call.reply(&pb.WatchResponse{Header: w.session.header(), WatchId: w.id})
			}
			w.told = false
			w.reportProgress()
		})
	})
}

// syncWatchers plans the next round.
func (s *Server) syncWatchers() {
	if s.syncing {
		return
	}
	s.syncing = true
	life := s.life
	s.node.After(syncRound, func() {
		s.node.WhenServing(func() {
			if s.life != life {
				return
			}
			s.syncing = false
			for _, w := range slices.Clone(s.watchers) {
				if w.inThePast {
					w.catchUp()
				}
			}
			s.flush()
		})
	})
}

// catchUp sends a watcher all that it has missed.
func (w *watcher) catchUp() {
	s := w.session.server
	w.inThePast = false
	if w.next < s.keyspace.compacted {
		s.watchers = slices.DeleteFunc(s.watchers, func(v *watcher) bool { return v == w })
		w.call.reply(&pb.WatchResponse{Header: w.session.header(), WatchId: w.id, CompactRevision: s.keyspace.compacted,
			Canceled: true})
		return
	}
	w.notify(s.keyspace.events)
}

// notifyWatchers sends the events from one on to the watchers that have caught up.
func (s *Server) notifyWatchers(from int) {
	if from == len(s.keyspace.events) {
		return
	}
	for _, w := range s.watchers {
		if !w.inThePast {
			w.notify(s.keyspace.events[from:])
		}
	}
}

// notify sends those of the events that the watcher wants and has not seen.
func (w *watcher) notify(events []*mvccpb.Event) {
	var wanted []*mvccpb.Event
	for _, e := range events {
		if e.Kv.ModRevision >= w.next && within(string(e.Kv.Key), w.request.Key, w.request.RangeEnd) && !w.filters(e) {
			sent := &mvccpb.Event{Type: e.Type, Kv: e.Kv}
			if w.request.PrevKv {
				sent.PrevKv = e.PrevKv
			}
			wanted = append(wanted, sent)
		}
	}
	w.next = max(w.next, w.session.server.keyspace.revision+1)
	if len(wanted) > 0 {
		w.told = true
		w.session.record(watchCreate{request: w.request, later: true}, happened(wanted))
		w.call.reply(&pb.WatchResponse{Header: w.session.header(), WatchId: w.id, Events: wanted})
	}
}

// filters reports whether the watcher does not want an event.
func (w *watcher) filters(e *mvccpb.Event) bool {
	unwanted := pb.WatchCreateRequest_NOPUT
	if e.Type == mvccpb.Event_DELETE {
		unwanted = pb.WatchCreateRequest_NODELETE
	}
	return slices.Contains(w.request.Filters, unwanted)
}
