// go run render.go talk.mp4 voice.wav result.mp4
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

var base = os.Getenv("LIPSYNC_BASE_URL")

type object = map[string]any

type record struct {
	Status    string          `json:"status"`
	Stage     string          `json:"stage"`
	Progress  float64         `json:"progress_percent"`
	StatusURL string          `json:"status_url"`
	Error     json.RawMessage `json:"error"`
	Engines   []struct {
		Output struct {
			URL string `json:"url"`
		} `json:"output"`
	} `json:"engines"`
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: go run render.go VIDEO VOICE RESULT")
	}
	video, voice, result := os.Args[1], os.Args[2], os.Args[3]
	request := object{
		"video":     object{"asset_id": upload(video, "video", "video/mp4")},
		"audio":     object{"asset_id": upload(voice, "audio", "audio/wav")},
		"engines":   []string{"musetalk"},
		"sync_mode": "cut_off",
		// With this key the request can be sent again without rendering twice.
		"idempotency_key": rand.Text(),
	}
	var render record
	call("POST", base+"/v1/renders", request, &render)
	for render.Status == "accepted" || render.Status == "processing" {
		time.Sleep(2 * time.Second)
		call("GET", render.StatusURL, nil, &render)
		fmt.Println(render.Stage, render.Progress, "%")
	}
	if render.Status != "completed" {
		log.Fatal(render.Status, ": ", string(render.Error))
	}
	answer, err := http.Get(render.Engines[0].Output.URL)
	check(err)
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		log.Fatal("the result was refused: ", answer.Status)
	}
	file, err := os.Create(result)
	check(err)
	_, err = io.Copy(file, answer.Body)
	check(err)
	check(file.Close())
}

// upload sends a file and returns the id of its asset, whose checks go on in the background.
func upload(path, mediaType, contentType string) string {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	info, err := file.Stat()
	check(err)
	var created struct {
		AssetID     string            `json:"asset_id"`
		UploadURL   string            `json:"upload_url"`
		CompleteURL string            `json:"complete_url"`
		Headers     map[string]string `json:"required_headers"`
	}
	wanted := object{"media_type": mediaType, "content_type": contentType, "size_bytes": info.Size()}
	call("POST", base+"/v1/uploads", wanted, &created)

	put, err := http.NewRequest("PUT", created.UploadURL, file)
	check(err)
	put.ContentLength = info.Size()
	for name, value := range created.Headers {
		put.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(put)
	check(err)
	answer.Body.Close()
	if answer.StatusCode != 200 {
		log.Fatal("the upload was refused: ", answer.Status)
	}
	call("POST", created.CompleteURL, nil, nil)
	return created.AssetID
}

// call sends one request to the service and decodes its answer.
func call(method, url string, body, into any) {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		check(err)
		sent = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, url, sent)
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LIPSYNC_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	received, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode >= 300 {
		log.Fatal(answer.Status, " ", string(received))
	}
	if into != nil {
		check(json.Unmarshal(received, into))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
