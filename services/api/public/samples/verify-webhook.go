package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	maxBodyBytes = 1 << 20 // events have a few thousand
)

var signaturePattern = regexp.MustCompile(`^t=([0-9]{1,12}),v1=([0-9a-f]{64})$`)

// Verify checks one webhook delivery and returns its raw body. signingSecret is hexadecimal, from your
// administrator. Unmarshal the body, answer 2xx at once, and deduplicate by the event's id; answer an error with 400.
func Verify(r *http.Request, signingSecret string, now time.Time) ([]byte, error) {
	key, err := hex.DecodeString(signingSecret)
	if err != nil || len(key) != sha256.Size {
		return nil, errors.New("malformed signing secret") // with an empty key anybody can sign
	}
	match := signaturePattern.FindStringSubmatch(r.Header.Get("Svc-Signature"))
	if match == nil {
		return nil, errors.New("malformed signature")
	}
	seconds, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %w", err)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, errors.New("too old or too new")
	}

	rawBody, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBodyBytes))
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", match[1], r.Header.Get("Svc-Delivery-ID"))
	mac.Write(rawBody)
	v1, err := hex.DecodeString(match[2])
	if err != nil || !hmac.Equal(mac.Sum(nil), v1) {
		return nil, errors.New("wrong signature")
	}
	return rawBody, nil
}
