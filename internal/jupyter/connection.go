package jupyter

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
)

// A connection contains the ports on which a kernel listens and the key with
// which it signs: the content of the connection file, which the client writes
// and the kernel reads.
type connection struct {
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Shell     int    `json:"shell_port"`
	IOPub     int    `json:"iopub_port"`
	Stdin     int    `json:"stdin_port"`
	Control   int    `json:"control_port"`
	Heartbeat int    `json:"hb_port"`
	Scheme    string `json:"signature_scheme"`
	Key       string `json:"key"`
}

// newConnection returns a connection on five free ports of the loopback
// interface, with a new key.
func newConnection() (connection, error) {
	c := connection{Transport: "tcp", IP: "127.0.0.1", Scheme: "hmac-sha256", Key: rand.Text()}
	for _, port := range []*int{&c.Shell, &c.IOPub, &c.Stdin, &c.Control, &c.Heartbeat} {
		l, err := net.Listen("tcp", net.JoinHostPort(c.IP, "0"))
		if err != nil {
			return c, fmt.Errorf("jupyter: no free port: %w", err)
		}
		defer l.Close() // all five stay open until the last is found, so that they differ
		*port = l.Addr().(*net.TCPAddr).Port
	}
	// On a machine or container whose loopback interface is down, no port can be
	// reached.
	d, err := net.Dial("tcp", net.JoinHostPort(c.IP, strconv.Itoa(c.Shell)))
	if err != nil {
		return c, fmt.Errorf("jupyter: a kernel cannot be spoken to, as this machine does not reach itself (`ip link set lo up` helps where it is down): %w", err)
	}
	return c, d.Close()
}

// write writes the connection file. Only its owner can read it, since it
// contains the key.
func (c connection) write(path string) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}

// address returns the ZeroMQ address of a port.
func (c connection) address(port int) string {
	return fmt.Sprintf("%s://%s:%d", c.Transport, c.IP, port)
}
