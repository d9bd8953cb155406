package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

const tolerance = 5 * time.Minute

var signaturePattern = regexp.MustCompile(`^t=(\d+),v1=([0-9a-f]{64})$`)

// Verify checks one webhook delivery. signature is the header Svc-Signature, deliveryID the header
// Svc-Delivery-ID, rawBody the bytes as received, signingSecret hexadecimal. Unmarshal rawBody only after nil was
// returned, answer 2xx at once, and deduplicate by the event's id.
func Verify(signature, deliveryID string, rawBody []byte, signingSecret string, now time.Time) error {
	match := signaturePattern.FindStringSubmatch(signature)
	if match == nil {
		return errors.New("malformed signature")
	}
	key, err := hex.DecodeString(signingSecret)
	if err != nil || len(key) != sha256.Size {
		return errors.New("malformed signing secret") // with an empty key anybody can sign
	}

	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", match[1], deliveryID)
	mac.Write(rawBody)
	v1, _ := hex.DecodeString(match[2])
	if !hmac.Equal(mac.Sum(nil), v1) {
		return errors.New("wrong signature")
	}

	seconds, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil {
		return fmt.Errorf("timestamp: %w", err)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return errors.New("too old or too new")
	}
	return nil
}
