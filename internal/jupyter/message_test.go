package jupyter

import (
	"strings"
	"testing"
)

// sign agrees with another implementation. The expected signature of the frames
// {"a":1} {} {} {"code":"γ"} with the key "secret" is from Python's
// hmac.new(b"secret", ..., "sha256").hexdigest().
func TestSign(t *testing.T) {
	frames := [][]byte{[]byte(`{"a":1}`), []byte(`{}`), []byte(`{}`), []byte(`{"code":"γ"}`)}
	const want = "2cf3dfa1a78ae268885971b3d2f275792b7b7855d6cdeddb530b14ef4644cb18"
	if got := string(sign("secret", frames)); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestMessage(t *testing.T) {
	m, err := newMessage("session", "execute_request", map[string]string{"code": "<γ>"})
	if err != nil {
		t.Fatal(err)
	}
	m.Parent.ID = "parent"
	frames := m.frames("secret")

	t.Run("survives_the_wire", func(t *testing.T) {
		wire := append([][]byte{[]byte("identity"), []byte("another")}, frames...)
		got, err := parseMessage(append(wire, []byte("a buffer")), "secret")
		if err != nil || got.Header != m.Header || got.Parent != m.Parent || string(got.Content) != string(m.Content) {
			t.Errorf("%+v, %v; want %+v", got, err, m)
		}
	})
	t.Run("has_an_ID_of_its_own", func(t *testing.T) {
		if other, _ := newMessage("session", "execute_request", nil); other.Header.ID == m.Header.ID {
			t.Errorf("two messages with the ID %s", m.Header.ID)
		}
	})
	t.Run("is_refused_with_another_key", func(t *testing.T) {
		refused(t, frames, "Secret", "wrong signature")
	})
	for i, name := range map[int]string{1: "signature", 2: "header", 3: "parent", 4: "metadata", 5: "content"} {
		t.Run("is_refused_with_a_changed_"+name, func(t *testing.T) {
			changed := append([][]byte{}, frames...)
			changed[i] = append([]byte(" "), changed[i]...)
			refused(t, changed, "secret", "wrong signature")
		})
	}
	t.Run("is_refused_when_cut_short", func(t *testing.T) {
		refused(t, frames[:5], "secret", "six frames")
		refused(t, frames[1:], "secret", "six frames")
		refused(t, nil, "secret", "six frames")
	})
	t.Run("is_refused_when_not_JSON", func(t *testing.T) {
		bad := [][]byte{[]byte("{}"), []byte("{}"), []byte("{}"), []byte("{")}
		refused(t, append([][]byte{delimiter, sign("k", bad)}, bad...), "k", "frame 5")
	})
}

func refused(t *testing.T, frames [][]byte, key, want string) {
	t.Helper()
	if _, err := parseMessage(frames, key); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want an error with %q", err, want)
	}
}

func FuzzParseMessage(f *testing.F) {
	m, _ := newMessage("s", "status", map[string]string{"execution_state": "idle"})
	frames := m.frames("k")
	f.Add(frames[2], frames[3], frames[4], frames[5])
	f.Fuzz(func(t *testing.T, h, p, meta, content []byte) {
		signed := [][]byte{h, p, meta, content}
		m, err := parseMessage(append([][]byte{delimiter, sign("k", signed)}, signed...), "k")
		if err != nil {
			t.Skip()
		}
		again, err := parseMessage(m.frames("k"), "k")
		if err != nil || again.Header != m.Header {
			t.Errorf("%+v became %+v, %v", m.Header, again.Header, err)
		}
	})
}
