package examine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// LongestLine is the maximum length of a message in bytes, in either direction.
const LongestLine = 16 << 20

// message is one message of the connection, a line of JSON: a call of a
// function, given by its number, or the outcome of the last call. Type is the
// [Notation] of the function that is called, for an end in another language.
type message struct {
	Call    *int              `json:"call,omitempty"`
	Type    string            `json:"type,omitempty"`
	Args    []json.RawMessage `json:"args,omitempty"`
	Results []json.RawMessage `json:"results,omitempty"`
	Panic   string            `json:"panic,omitempty"`
}

// peer is one end of a connection.
type peer struct {
	out   io.Writer
	lines chan []byte   // messages from the other end
	over  chan struct{} // closed at the end of the messages
	err   error         // the reason for the end

	calling sync.Mutex      // one call at a time
	offered []reflect.Value // functions that the other end may call, by number
}

func newPeer(conn io.ReadWriter) *peer {
	p := &peer{out: conn, lines: make(chan []byte, 1), over: make(chan struct{}), err: io.EOF}
	go p.listen(conn)
	return p
}

// listen reads messages in the background, so that the end of the connection is
// noticed also while a function runs.
func (p *peer) listen(conn io.Reader) {
	in := bufio.NewScanner(conn)
	in.Buffer(make([]byte, 1<<16), LongestLine)
	for in.Scan() {
		p.lines <- bytes.Clone(in.Bytes())
	}
	if err := in.Err(); err != nil {
		p.err = err
	}
	close(p.over)
	close(p.lines)
}

// Remote returns a function of type t that calls the function which the other
// end of the connection serves. A call panics with the panic of that function,
// and also if the connection ends or the other end violates the protocol.
// Remote panics unless all arguments and results of t can be sent: numbers,
// strings, booleans, fractions, functions of these, slices and structs of
// these, and drawings.
func Remote(conn io.ReadWriter, t reflect.Type) reflect.Value {
	if err := sendable(t); err != nil {
		panic("examine: " + err.Error())
	}
	return newPeer(conn).function(0, t)
}

// Serve answers calls of the functions, which are numbered from 0, until the
// connection ends, which is not an error, even if one has not returned. It
// returns an error if the other end violates the protocol. It panics if one is
// not a function or has an argument or a result that cannot be sent.
func Serve(conn io.ReadWriter, functions ...any) error {
	var offered []reflect.Value
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Func || v.IsNil() {
			panic(fmt.Sprintf("examine: %T is served, want a function", f))
		}
		if err := sendable(v.Type()); err != nil {
			panic("examine: " + err.Error())
		}
		offered = append(offered, v)
	}
	p := newPeer(conn)
	p.offered = offered
	for {
		m, err := p.receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && m.Call == nil {
			err = errors.New("a result that nobody asked for")
		}
		if err != nil {
			return fmt.Errorf("examine: %w", err)
		}
		answered := make(chan error, 1)
		go func() { answered <- p.send(p.answer(m)) }()
		select {
		case <-p.over:
			return nil
		case err := <-answered:
			if err != nil {
				return fmt.Errorf("examine: %w", err)
			}
		}
	}
}

// function returns a function that calls the function of the other end with
// this number. Its calls run one at a time.
func (p *peer) function(number int, t reflect.Type) reflect.Value {
	notation := Notation(t)
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		p.calling.Lock()
		defer p.calling.Unlock()
		results, err := p.call(message{Call: &number, Type: notation}, t, args)
		if err != nil {
			panic(err.Error())
		}
		return results
	})
}

// call sends a call with these arguments and waits for its outcome. Meanwhile
// it answers the calls of the other end.
func (p *peer) call(m message, t reflect.Type, args []reflect.Value) ([]reflect.Value, error) {
	before := len(p.offered)
	defer func() { p.offered = p.offered[:before] }()
	m.Args = make([]json.RawMessage, len(args))
	for i, a := range args {
		m.Args[i] = p.encode(a)
	}
	if err := p.send(m); err != nil {
		return nil, err
	}
	for {
		m, err := p.receive()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("ended before it returned")
		case err != nil:
			return nil, err
		case m.Call != nil:
			if err := p.send(p.answer(m)); err != nil {
				return nil, err
			}
		case m.Panic != "":
			return nil, errors.New(m.Panic)
		default:
			types := make([]reflect.Type, t.NumOut())
			for i := range types {
				types[i] = t.Out(i)
			}
			return p.decodeAll(m.Results, types)
		}
	}
}

// answer calls the function that a message requests and returns the outcome.
func (p *peer) answer(m message) (reply message) {
	if *m.Call < 0 || *m.Call >= len(p.offered) {
		return message{Panic: fmt.Sprintf("there is no function %d", *m.Call)}
	}
	defer func() {
		if r := recover(); r != nil {
			reply = message{Panic: fmt.Sprint(r)}
		}
	}()
	f := p.offered[*m.Call]
	types := make([]reflect.Type, f.Type().NumIn())
	for i := range types {
		types[i] = f.Type().In(i)
	}
	args, err := p.decodeAll(m.Args, types)
	if err != nil {
		return message{Panic: err.Error()}
	}
	results := f.Call(args)
	reply.Results = make([]json.RawMessage, len(results))
	for i, r := range results {
		reply.Results[i] = p.encode(r)
	}
	return reply
}

// offer makes a function available to the other end and returns its number.
func (p *peer) offer(f reflect.Value) int {
	p.offered = append(p.offered, f)
	return len(p.offered) - 1
}

func (p *peer) send(m message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(line) >= LongestLine {
		return fmt.Errorf("a message of %d bytes, at most %d are sent", len(line), LongestLine)
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

func (p *peer) receive() (m message, err error) {
	line, ok := <-p.lines
	if !ok {
		return m, p.err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("not a message: %w", err)
	}
	return m, nil
}
