package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A message is one Jupyter message. On the wire it is a list of frames,
//
//	[identity or topic ...] <IDS|MSG> signature header parent_header metadata content [buffer ...]
//
// where signature is the HMAC-SHA256 of the four frames after it, in
// hexadecimal.
type message struct {
	Header  header
	Parent  header // of the request that this message answers
	Content json.RawMessage
}

type header struct {
	ID       string `json:"msg_id,omitempty"`
	Session  string `json:"session,omitempty"`
	Username string `json:"username,omitempty"`
	Date     string `json:"date,omitempty"`
	Type     string `json:"msg_type,omitempty"`
	Version  string `json:"version,omitempty"`
}

var delimiter = []byte("<IDS|MSG>")

// newMessage returns a message of the given type in a session, with a new ID.
func newMessage(session, typ string, content any) (message, error) {
	data, err := json.Marshal(content)
	return message{
		Header: header{
			ID: rand.Text(), Session: session, Username: "roundoff", Type: typ, Version: "5.3",
			Date: time.Now().UTC().Format(time.RFC3339Nano),
		},
		Content: data,
	}, err
}

// frames returns the frames of the message as they are sent, signed with key.
func (m message) frames(key string) [][]byte {
	h, _ := json.Marshal(m.Header) // strings only: never fails
	p, _ := json.Marshal(m.Parent)
	signed := [][]byte{h, p, []byte("{}"), m.Content}
	return append([][]byte{delimiter, sign(key, signed)}, signed...)
}

// parseMessage returns the message in the frames. It returns an error if the
// signature was not made with key.
func parseMessage(frames [][]byte, key string) (message, error) {
	var m message
	for len(frames) > 0 && !bytes.Equal(frames[0], delimiter) {
		frames = frames[1:]
	}
	if len(frames) < 6 {
		return m, errors.New("jupyter: message without its six frames")
	}
	signature, signed := frames[1], frames[2:6]
	if !hmac.Equal(signature, sign(key, signed)) {
		return m, errors.New("jupyter: message with a wrong signature")
	}
	for i, part := range []any{&m.Header, &m.Parent, new(json.RawMessage), &m.Content} {
		if err := json.Unmarshal(signed[i], part); err != nil {
			return m, fmt.Errorf("jupyter: frame %d of a message: %w", i+2, err)
		}
	}
	return m, nil
}

// sign returns the hexadecimal HMAC-SHA256 of the concatenated frames.
func sign(key string, frames [][]byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, f := range frames {
		mac.Write(f)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}
