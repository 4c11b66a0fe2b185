//go:build unix

package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// The test binary is also a kernel, so that the client is tested without any
// other program. The language of this kernel has a few words, one per line.
// TestMain starts the kernel if an environment variable requests it.

func TestMain(m *testing.M) {
	if file := os.Getenv("ROUNDOFF_FAKE_KERNEL"); file != "" {
		serve(file)
		return
	}
	os.Exit(m.Run())
}

// fakeSpec returns the kernelspec of the test binary.
func fakeSpec(t *testing.T, mode string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Argv:          []string{"/bin/sh", "-c", `ROUNDOFF_FAKE_KERNEL="$0" exec "$1"`, "{connection_file}", exe},
		InterruptMode: mode,
		Env:           map[string]string{"FROM_SPEC": "spec", "BOTH": "spec"},
	}
}

type fake struct {
	conn      connection
	iopub     zmq4.Socket
	mu        sync.Mutex // of iopub
	interrupt chan struct{}
	wrongKey  bool
	count     int
}

func serve(file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	f := &fake{interrupt: make(chan struct{}, 1)}
	if err := json.Unmarshal(data, &f.conn); err != nil {
		panic(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT)
	go func() {
		for range signals {
			f.interrupt <- struct{}{}
		}
	}()
	listen := func(s zmq4.Socket, port int) zmq4.Socket {
		if err := s.Listen(f.conn.address(port)); err != nil {
			panic(err)
		}
		return s
	}
	ctx := context.Background()
	f.begin(os.Getenv("FAKE_BEGIN"))
	f.iopub = listen(zmq4.NewPub(ctx), f.conn.IOPub)
	control := listen(zmq4.NewRouter(ctx), f.conn.Control)
	shell := listen(zmq4.NewRouter(ctx), f.conn.Shell)
	go f.loop(control)
	f.loop(shell)
}

// begin does what can go wrong before a kernel listens.
func (f *fake) begin(how string) {
	how, file, _ := strings.Cut(how, " ")
	switch how {
	case "taken": // the first time another program has the port
		if mark, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			mark.Close()
			fmt.Fprintln(os.Stderr, "listen tcp: bind: address already in use")
			os.Exit(255)
		}
	case "mute", "cut": // on the port listens who says nothing; who hangs up at once
		l, err := net.Listen("tcp", net.JoinHostPort(f.conn.IP, strconv.Itoa(f.conn.Shell)))
		if err != nil {
			panic(err)
		}
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		if how == "mute" {
			time.Sleep(time.Hour)
		}
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
		l.Close()
	}
}

func (f *fake) loop(s zmq4.Socket) {
	for {
		msg, err := s.Recv()
		if err != nil {
			panic(err)
		}
		m, err := parseMessage(msg.Frames, f.conn.Key)
		if err != nil {
			panic(err)
		}
		f.answer(s, msg.Frames[0], m)
	}
}

func (f *fake) answer(s zmq4.Socket, to []byte, m message) {
	key := f.conn.Key
	reply := func(typ string, content any) {
		r, _ := newMessage(m.Header.Session, typ, content)
		r.Parent = m.Header
		if f.wrongKey {
			key = "another"
		}
		s.SendMulti(zmq4.NewMsgFrom(append([][]byte{to}, r.frames(key)...)...))
	}
	switch m.Header.Type {
	case "kernel_info_request":
		f.publish(m, "status", map[string]any{"execution_state": "busy"})
		reply("kernel_info_reply", map[string]any{"status": "ok"})
	case "interrupt_request":
		f.interrupt <- struct{}{}
		reply("interrupt_reply", map[string]any{"status": "ok"})
	case "shutdown_request":
		os.Exit(0)
	case "execute_request":
		f.count++
		var c struct{ Code string }
		json.Unmarshal(m.Content, &c)
		f.publish(m, "execute_input", map[string]any{"code": c.Code, "execution_count": f.count})
		status := "ok"
		for line := range strings.Lines(c.Code) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !f.do(m, word, rest) {
				status = "error"
			}
		}
		reply("execute_reply", map[string]any{"status": status, "evalue": "it went wrong", "execution_count": f.count})
		f.publish(m, "status", map[string]any{"execution_state": "idle"})
	}
}

// do executes one line of the language.
func (f *fake) do(m message, word, rest string) bool {
	display := func(text string) map[string]any {
		id := map[string]any{"display_id": "d"}
		return map[string]any{"data": map[string]any{"text/plain": text}, "metadata": map[string]any{}, "transient": id}
	}
	stream := func(name, text string) {
		f.publish(m, "stream", map[string]any{"name": name, "text": text})
	}
	switch word {
	case "print":
		stream("stdout", rest+"\n")
	case "warn":
		stream("stderr", rest+"\n")
	case "env":
		stream("stdout", os.Getenv(rest))
	case "pwd":
		dir, _ := os.Getwd()
		stream("stdout", dir)
	case "big":
		stream("stdout", strings.Repeat("x", 4<<20))
	case "display":
		f.publish(m, "display_data", display(rest))
	case "update":
		f.publish(m, "update_display_data", display(rest))
	case "clear":
		f.publish(m, "clear_output", map[string]any{"wait": rest == "wait"})
	case "result":
		f.publish(m, "execute_result", map[string]any{"data": map[string]any{"application/json": json.RawMessage(rest)}, "execution_count": f.count})
	case "stranger": // an answer to a request of another client
		f.publish(message{}, "stream", map[string]any{"name": "stdout", "text": "stranger"})
		f.publish(message{}, "status", map[string]any{"execution_state": "idle"})
	case "fail":
		f.publish(m, "error", map[string]any{"ename": "E", "evalue": "it went wrong", "traceback": []string{"here", "there"}})
		return false
	case "sleep": // until interrupted
		<-f.interrupt
		stream("stdout", "interrupted")
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case "child":
		child := exec.Command("sleep", "3600")
		child.Start()
		stream("stdout", fmt.Sprint(child.Process.Pid))
	case "die":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	case "forge":
		f.wrongKey = true
	case "garble":
		f.publish(m, "stream", []int{1})
	}
	return true
}

func (f *fake) publish(parent message, typ string, content any) {
	m, _ := newMessage(parent.Header.Session, typ, content)
	m.Parent = parent.Header
	f.mu.Lock()
	defer f.mu.Unlock()
	f.iopub.SendMulti(zmq4.NewMsgFrom(append([][]byte{[]byte("topic")}, m.frames(f.conn.Key)...)...))
}
