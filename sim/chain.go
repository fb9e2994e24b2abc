package sim

import (
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// chain runs toxiproxy's toxics, ours and theirs, over one direction of one
// connection. A stage is added at the end and may be removed anywhere, while
// bytes flow. A link without toxics has no chain and no cost.
type chain struct {
	conn *conn
	dir  Direction

	mu     sync.Mutex
	stages []*stage
	lost   int // bytes taken in and not put out
}

// stage is one toxic of a chain: an unbounded queue, since a network accepts
// whatever is sent, then the toxic, then a drain that passes its output on.
type stage struct {
	chain   *chain
	wrapper *toxics.ToxicWrapper
	felt    func()
	stub    *toxics.ToxicStub
	output  chan *stream.StreamChunk
	stopped chan struct{} // the toxic has returned and does not run again
	drained chan struct{} // all its output has been passed on
	fed     chan struct{} // the feeder has ended

	mu      sync.Mutex
	queue   []*stream.StreamChunk // nil is the end of the stream
	inside  []entered             // what has come in and not gone out
	more    chan struct{}
	removed bool
}

// newStage starts a toxic. It returns when the toxic runs: toxiproxy draws from
// the global random source before that, and no other goroutine may draw from it
// meanwhile.
func newStage(c *chain, t toxicOn) *stage {
	wrapper := t.wrapper
	input, output := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	s := &stage{
		chain: c, wrapper: wrapper, felt: t.felt, stub: toxics.NewToxicStub(input, output), output: output,
		stopped: make(chan struct{}), drained: make(chan struct{}), fed: make(chan struct{}),
		more: make(chan struct{}, 1),
	}
	if stateful, ok := wrapper.Toxic.(toxics.StatefulToxic); ok {
		s.stub.State = stateful.NewState()
	}
	running := make(chan struct{})
	go s.feed(input)
	go s.run(running)
	go s.drain()
	<-running
	return s
}

// announced is a toxic that signals when it starts.
type announced struct {
	toxics.Toxic
	running chan<- struct{}
}

func (a announced) Pipe(stub *toxics.ToxicStub) {
	close(a.running)
	a.Toxic.Pipe(stub)
}

// entered is a chunk that has come in, or the end of the stream.
type entered struct {
	at    time.Time
	bytes int // 0 for the end of the stream
}

func entering(chunk *stream.StreamChunk) entered {
	e := entered{at: bubbleNow()}
	if chunk != nil {
		e.bytes = len(chunk.Data)
	}
	return e
}

// left compares what goes out with what has come in. The toxic is felt unless
// that is the same, in the same instant. A toxic that ends an idle stream is not
// felt: nothing was on its way.
func (s *stage) left(chunk *stream.StreamChunk) {
	s.mu.Lock()
	same := len(s.inside) == 0 && chunk == nil
	if len(s.inside) > 0 {
		same = s.inside[0] == entering(chunk)
		s.inside = s.inside[1:]
	}
	s.mu.Unlock()
	if !same {
		s.felt()
	}
}

// push queues a chunk for the stage. Any goroutine may call it.
func (s *stage) push(chunks ...*stream.StreamChunk) {
	s.mu.Lock()
	s.queue = append(s.queue, chunks...)
	for _, chunk := range chunks {
		s.inside = append(s.inside, entering(chunk))
	}
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// feed passes the queue to the toxic. A chunk leaves the queue only when the
// toxic has taken it, so that a removed stage leaves the rest to the next. A
// toxic that has ended the stream itself may wait for the end of its input, so
// feed closes the input too.
func (s *stage) feed(input chan<- *stream.StreamChunk) {
	defer close(s.fed)
	for {
		chunk, ok := s.head()
		switch {
		case !ok:
			select {
			case <-s.more:
			case <-s.stopped:
				return
			case <-s.drained:
				close(input)
				return
			}
		case chunk == nil:
			close(input)
			return
		default:
			select {
			case input <- chunk:
				s.shift()
			case <-s.stopped:
				return
			case <-s.drained:
				close(input)
				return
			}
		}
	}
}

func (s *stage) head() (*stream.StreamChunk, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, false
	}
	return s.queue[0], true
}

func (s *stage) shift() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = s.queue[1:]
}

func (s *stage) run(running chan<- struct{}) {
	s.stub.Run(&toxics.ToxicWrapper{Toxic: announced{s.wrapper.Toxic, running}, Toxicity: 1})
	close(s.stopped)
}

// drain passes the toxic's output on; the end of its output is the end of the
// stream, unless the stage was removed.
func (s *stage) drain() {
	defer close(s.drained)
	for chunk := range s.output {
		s.left(chunk)
		s.chain.handOn(s, chunk)
	}
	if !s.isRemoved() {
		s.left(nil)
		s.chain.handOn(s, nil)
	}
}

func (s *stage) isRemoved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed
}

// remove ends the stage and returns the chunks that its toxic has not taken.
// The toxic itself decides what happens to those that it has.
func (s *stage) remove() (left []*stream.StreamChunk) {
	if !s.stub.InterruptToxic() {
		<-s.drained
		return nil // the stream is over
	}
	if cleanup, ok := s.wrapper.Toxic.(toxics.CleanupToxic); ok {
		cleanup.Cleanup(s.stub)
	}
	if s.stub.Closed() {
		<-s.drained
		return nil
	}
	s.mu.Lock()
	s.removed = true
	s.mu.Unlock()
	close(s.output)
	<-s.drained
	<-s.fed
	if held := len(s.inside); held > len(s.queue) || held > 0 && s.inside[0].at.Before(bubbleNow()) {
		s.felt() // it has lost bytes, or held them up to now
	}
	return s.queue
}

func newChain(c *conn, dir Direction) *chain { return &chain{conn: c, dir: dir} }

// push takes bytes, or the end of the stream, into the first toxic.
func (c *chain) push(b []byte) {
	c.mu.Lock()
	first := c.stages[0]
	c.lost += len(b)
	c.mu.Unlock()
	first.push(chunkOf(b))
}

func chunkOf(b []byte) *stream.StreamChunk {
	if b == nil {
		return nil
	}
	return &stream.StreamChunk{Data: b, Timestamp: bubbleNow()}
}

// handOn passes a chunk from one stage to the next, or onto the wire. It drops
// the empty chunks that some toxics emit.
func (c *chain) handOn(from *stage, chunk *stream.StreamChunk) {
	if chunk != nil && len(chunk.Data) == 0 {
		return
	}
	if next := c.after(from, chunk); next != nil {
		next.push(chunk)
		return
	}
	if chunk == nil {
		c.conn.emit(c.dir, nil)
		return
	}
	c.conn.emit(c.dir, append([]byte{}, chunk.Data...))
}

// after is the stage behind s. It counts the bytes that leave the last one.
func (c *chain) after(s *stage, chunk *stream.StreamChunk) *stage {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.stages {
		if x == s && i+1 < len(c.stages) {
			return c.stages[i+1]
		}
	}
	if chunk != nil {
		c.lost -= len(chunk.Data)
	}
	return nil
}

func (c *chain) add(t toxicOn) {
	s := newStage(c, t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stages = append(c.stages, s)
}

// remove removes a toxic; the chunks that wait in front of it go to the next.
// It returns whether the chain is empty now, and how many bytes it has lost.
func (c *chain) remove(wrapper *toxics.ToxicWrapper) (empty bool, lost int) {
	if s := c.find(wrapper); s != nil {
		for _, chunk := range s.remove() {
			c.handOn(s, chunk)
		}
		c.drop(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.stages) == 0, c.lost
}

func (c *chain) find(wrapper *toxics.ToxicWrapper) *stage {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.stages {
		if s.wrapper == wrapper {
			return s
		}
	}
	return nil
}

func (c *chain) drop(s *stage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.stages {
		if x == s {
			c.stages = append(c.stages[:i:i], c.stages[i+1:]...)
			return
		}
	}
}

// kill stops every toxic of a closed connection.
func (c *chain) kill() {
	c.mu.Lock()
	stages := c.stages
	c.stages = nil
	c.mu.Unlock()
	for _, s := range stages {
		s.remove()
	}
}

// toxicOn is a toxic on one direction of a link.
type toxicOn struct {
	wrapper *toxics.ToxicWrapper
	felt    func()
}

func (l *link) addToxic(dir Direction, toxic toxics.Toxic, felt func()) (remove func()) {
	t := toxicOn{&toxics.ToxicWrapper{Toxic: toxic, Toxicity: 1}, felt}
	l.chain[dir] = append(l.chain[dir], t)
	for _, c := range l.conns {
		c.addToxic(dir, t)
	}
	return func() { l.removeToxic(dir, t.wrapper) }
}

func (l *link) removeToxic(dir Direction, wrapper *toxics.ToxicWrapper) {
	for i, x := range l.chain[dir] {
		if x.wrapper == wrapper {
			l.chain[dir] = append(l.chain[dir][:i:i], l.chain[dir][i+1:]...)
		}
	}
	for _, c := range l.conns {
		c.removeToxic(dir, wrapper)
	}
}

// addToxics gives a new connection the toxics of its link.
func (c *conn) addToxics() {
	for dir, all := range c.link.chain {
		for _, t := range all {
			c.addToxic(Direction(dir), t)
		}
	}
}

func (c *conn) addToxic(dir Direction, t toxicOn) {
	f := &c.flows[dir]
	if f.chain == nil {
		f.chain = newChain(c, dir)
	}
	f.chain.add(t)
}

func (c *conn) removeToxic(dir Direction, wrapper *toxics.ToxicWrapper) {
	f := &c.flows[dir]
	if f.chain == nil {
		return
	}
	if empty, lost := f.chain.remove(wrapper); empty {
		f.chain = nil
		if !f.heard { // else none of it counts as under way any more
			f.bytes -= lost
		}
		return
	}
	c.w.time.waitBlocked() // the next toxic takes what this one has left, before it is removed too
}
