// Business logic for kvstored in Go: a service of the operator's, with nothing but the standard library.
//
//	LOGIC_SECRET=… go run . 9000
//
// It does what ../logic.py does: it gives books ids of its own, refuses those without a title, hides a member from
// readers, and has an endpoint.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

type answer struct {
	status int
	value  object
}

// A message has what an event needs; the other members are empty.
type message struct {
	Event    string
	Entities []object
	Query    string
	Body     object
}

func respond(call message) answer {
	switch call.Event {
	case "before-save":
		return beforeSave(call.Entities)
	case "after-fetch":
		for _, book := range call.Entities {
			delete(book, "price")
		}
		return answer{200, object{"entities": call.Entities}}
	case "before-delete":
		if call.Query != "" {
			return answer{403, object{"error": "InsufficientCredentials", "debug": "delete books one by one"}}
		}
	case "custom":
		name, ok := call.Body["name"].(string)
		if !ok {
			name = "world"
		}
		return answer{200, object{"greeting": "Hello, " + name + "!"}}
	}
	return answer{200, object{}}
}

func beforeSave(books []object) answer {
	refused := []object{}
	for index, book := range books {
		title, _ := book["title"].(string)
		if title == "" {
			refused = append(refused, object{
				"index": index, "error": "InputValidationFailed", "debug": "title is missing"})
			continue
		}
		book["key"] = strings.ToLower(title)
		// Ids of 12 or 24 characters look like temporary ones to some original SDKs. Another id may
		// replace the server's choice; if the client has chosen the id, the server refuses the book.
		if id, _ := book["_id"].(string); len(id) == 12 || len(id) == 24 {
			book["_id"] = id + "_"
		}
	}
	return answer{200, object{"entities": books, "errors": refused}}
}

// A service answers calls that kvstored has signed.
type service struct {
	secret []byte
	mutex  sync.Mutex
	// The answers so far, so that a repeated call does nothing twice. A service that runs for long forgets old ones.
	answered map[string]answer
}

func (s *service) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	delivery := request.Header.Get("X-Kvstored-Delivery")
	if err != nil || !s.isGenuine(request.Header, delivery, body) {
		write(out, answer{401, object{"debug": "the signature is wrong"}})
		return
	}
	var call message
	decoder := json.NewDecoder(bytes.NewReader(body))
	// Numbers of entities come back as they were.
	decoder.UseNumber()
	if err := decoder.Decode(&call); err != nil {
		write(out, answer{400, object{"debug": err.Error()}})
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	known, ok := s.answered[delivery]
	if !ok {
		known = respond(call)
		s.answered[delivery] = known
	}
	write(out, known)
}

// isGenuine tells whether somebody who knows the secret has sent this a short while ago.
func (s *service) isGenuine(header http.Header, delivery string, body []byte) bool {
	sent := header.Get("X-Kvstored-Timestamp")
	code := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(code, "%s.%s.%s.", sent, delivery, header.Get("X-Kvstored-Event"))
	code.Write(body)
	expected := "sha256=" + hex.EncodeToString(code.Sum(nil))
	seconds, err := strconv.ParseInt(sent, 10, 64)
	age := time.Since(time.Unix(seconds, 0))
	return err == nil && age.Abs() < 5*time.Minute &&
		hmac.Equal([]byte(header.Get("X-Kvstored-Signature")), []byte(expected))
}

func write(out http.ResponseWriter, answer answer) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(answer.status)
	if err := json.NewEncoder(out).Encode(answer.value); err != nil {
		log.Print(err)
	}
}

func main() {
	secret := os.Getenv("LOGIC_SECRET")
	if len(secret) < 16 {
		log.Fatal("LOGIC_SECRET has 16 bytes or more")
	}
	port := "9000"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, &service{secret: []byte(secret), answered: map[string]answer{}}))
}
