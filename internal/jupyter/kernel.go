package jupyter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// Time limits: for a kernel to answer for the first time, to take a request, to
// end after a shutdown request, to end after a signal, and to stop a cell. GoNB
// kills a cell 5 s after an interrupt.
const (
	startTime     = time.Minute
	sendTime      = 10 * time.Second
	shutdownTime  = 3 * time.Second
	terminateTime = 2 * time.Second
	interruptTime = 7 * time.Second
)

// A Kernel is a running Jupyter kernel. Only one goroutine at a time may call
// its methods.
type Kernel struct {
	spec    Spec
	conn    connection
	session string
	scratch string // folder with the connection file, and the kernel's TMPDIR
	cmd     *exec.Cmd
	log     tail          // the end of the kernel's standard output and error
	exited  chan struct{} // closed when the process has ended

	alive context.Context // done when the kernel cannot be used any more; its cause is the reason
	end   context.CancelCauseFunc

	shell, control, iopub zmq4.Socket
	replies, published    chan message // messages from shell; from iopub

	displays map[string][]*notebook.Output // outputs of all cells so far, by display_id
}

// Start starts the kernel that spec describes, in the folder dir, with env
// ("key=value") added to its environment, and returns it when it has answered.
// It ends a kernel that does not answer within a minute and returns an error.
// Where another program took one of the kernel's ports first, it starts the
// kernel again. The kernel stores its temporary files in a folder of its own,
// which Close removes.
func Start(ctx context.Context, spec Spec, dir string, env []string) (*Kernel, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("jupyter: kernelspec: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errors.New("jupyter: the kernel does not answer"))
	defer cancel()
	for {
		k, err := launch(spec, dir, env)
		if err != nil {
			return nil, err
		}
		if err = k.connect(ctx); err == nil {
			return k, nil
		}
		k.Close()
		if ctx.Err() != nil || !strings.Contains(err.Error(), portTaken) {
			return nil, err
		}
	}
}

// portTaken is in what a kernel prints that cannot listen on one of its ports:
// they are free when they are chosen, and a moment later the kernel listens.
const portTaken = "address already in use"

// launching is held from when a kernel's ports are chosen until its process
// runs: a process that is started meanwhile holds the listeners on the ports
// open until its program is loaded, and who connects to them is cut off.
var launching sync.Mutex

// launch starts the process of the kernel.
func launch(spec Spec, dir string, env []string) (*Kernel, error) {
	launching.Lock()
	defer launching.Unlock()
	conn, err := newConnection()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "roundoff-kernel-")
	if err != nil {
		return nil, fmt.Errorf("jupyter: %w", err)
	}
	k := &Kernel{
		spec: spec, conn: conn, session: conn.Key[:8], scratch: scratch,
		exited:  make(chan struct{}),
		replies: make(chan message), published: make(chan message),
		displays: map[string][]*notebook.Output{},
	}
	file := filepath.Join(scratch, "kernel-"+k.session+".json")
	argv := spec.command(file)
	k.cmd = exec.Command(argv[0], argv[1:]...)
	k.cmd.Dir, k.cmd.Env = dir, append(spec.environ(env), "TMPDIR="+scratch)
	k.cmd.Stdout, k.cmd.Stderr = &k.log, &k.log
	k.cmd.WaitDelay = time.Second // a process that it started may keep its output open
	group(k.cmd)

	if err = conn.write(file); err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		os.RemoveAll(scratch)
		return nil, fmt.Errorf("jupyter: kernel not started: %w", err)
	}
	k.alive, k.end = context.WithCancelCause(context.Background())
	go k.wait()
	return k, nil
}

// connect opens the three channels. It returns when messages of the kernel have
// arrived on shell and on iopub: messages published on iopub before the
// subscription takes effect are lost.
func (k *Kernel) connect(ctx context.Context) error {
	opts := []zmq4.Option{
		zmq4.WithDialerMaxRetries(0),
		zmq4.WithTimeout(sendTime),
		zmq4.WithLogger(log.New(io.Discard, "", 0)),
	}
	k.shell, k.control = zmq4.NewDealer(k.alive, opts...), zmq4.NewDealer(k.alive, opts...)
	k.iopub = zmq4.NewSub(k.alive, opts...)
	stop := context.AfterFunc(ctx, func() { k.end(context.Cause(ctx)) })
	defer stop()
	for _, c := range []struct {
		socket zmq4.Socket
		port   int
	}{{k.shell, k.conn.Shell}, {k.control, k.conn.Control}, {k.iopub, k.conn.IOPub}} {
		if err := k.dial(c.socket, c.port); err != nil {
			return err
		}
	}
	if err := k.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	go k.receive(k.shell, k.replies)
	go k.receive(k.iopub, k.published)
	return k.greet()
}

// dial connects the socket to a port of the kernel. It tries again until the
// kernel answers or cannot be used any more: what listens on the port in the
// beginning need not be the kernel.
func (k *Kernel) dial(s zmq4.Socket, port int) error {
	for {
		failed := make(chan error, 1)
		go func() { failed <- s.Dial(k.conn.address(port)) }()
		select {
		case err := <-failed:
			if err == nil {
				return nil
			}
		case <-k.alive.Done(): // Dial itself may wait for an answer for ever
			return context.Cause(k.alive)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-k.alive.Done():
			return context.Cause(k.alive)
		}
	}
}

// greet requests the kernel's name repeatedly until answers have arrived on
// both channels.
func (k *Kernel) greet() error {
	var replied, published bool
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		if _, err := k.send(k.shell, "kernel_info_request", struct{}{}); err != nil {
			return err
		}
		for asked := true; asked; {
			select {
			case <-k.replies:
				replied = true
			case <-k.published:
				published = true
			case <-again.C:
				asked = false
			case <-k.alive.Done():
				return context.Cause(k.alive)
			}
			if replied && published {
				return nil
			}
		}
	}
}

// receive passes the messages of a socket to the channel until the kernel
// cannot be used any more.
func (k *Kernel) receive(from zmq4.Socket, to chan<- message) {
	for {
		msg, err := from.Recv()
		if err != nil {
			return // closed by Close, or because the process ended, which wait reports
		}
		m, err := parseMessage(msg.Frames, k.conn.Key)
		if err != nil {
			k.end(err)
			return
		}
		select {
		case to <- m:
		case <-k.alive.Done():
			return
		}
	}
}

// send sends a message and returns its ID.
func (k *Kernel) send(to zmq4.Socket, typ string, content any) (string, error) {
	m, err := newMessage(k.session, typ, content)
	if err == nil {
		err = to.SendMulti(zmq4.NewMsgFrom(m.frames(k.conn.Key)...))
	}
	if err != nil && k.alive.Err() != nil {
		return "", context.Cause(k.alive)
	}
	return m.Header.ID, err
}
