package jupyter

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLoopback runs itself in a network namespace whose loopback interface is
// down.
func TestLoopback(t *testing.T) {
	if os.Getenv("ROUNDOFF_NO_LOOPBACK") != "" {
		if _, err := newConnection(); err == nil || !strings.Contains(err.Error(), "ip link set lo up") {
			t.Errorf("without a loopback interface: %v, want a hint", err)
		}
		return
	}
	if err := exec.Command("unshare", "--map-root-user", "--net", "true").Run(); err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	c := exec.Command("unshare", "--map-root-user", "--net", os.Args[0], "-test.run=^TestLoopback$")
	c.Env = append(os.Environ(), "ROUNDOFF_NO_LOOPBACK=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
