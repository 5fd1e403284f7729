package kvstore_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const (
	appKey    = "kid_test"
	appSecret = "secret_test"
)

// A server is a real kvstored; stopped and started again it keeps its port.
type server struct {
	data    string
	port    string
	process *exec.Cmd
}

func startServer(data string) (*server, error) {
	s := &server{data: data, port: "0"}
	return s, s.start()
}

func (s *server) host() string { return "http://127.0.0.1:" + s.port }

var listening = regexp.MustCompile(`listening on .*:(\d+)`)

func (s *server) start() error {
	program := os.Getenv("KVSTORED")
	if program == "" {
		program = filepath.Join("..", "..", "build", "bin", "kvstored")
	}
	s.process = exec.Command(program, "--data", s.data, "--listen", "127.0.0.1:"+s.port,
		"--app", appKey+":"+appSecret, "--password-length", "1", "--signups-per-hour", "0", "--change-password-by-session")
	output, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	s.process.Stderr = s.process.Stdout
	if err := s.process.Start(); err != nil {
		return err
	}
	var log []string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		log = append(log, lines.Text())
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			s.port = found[1]
			go func() {
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	return fmt.Errorf("kvstored did not start: %s", strings.Join(log, "\n"))
}

// kill ends the server at once: from now on connections are refused.
func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// shared is the server of all tests that need not stop it; host is where it listens.
var host string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	data, err := os.MkdirTemp("", "kvstore-go")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(data)
	shared, err := startServer(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.kill()
	host = shared.host()
	code := m.Run()
	if left := kvstore.LiveObjects(""); left != 0 {
		fmt.Fprintf(os.Stderr, "%d handles are still open\n", left)
		return 1
	}
	return code
}

var names atomic.Int64

// unique returns a name that no other test uses on the shared server.
func unique() string { return fmt.Sprintf("name%d", names.Add(1)) }

// open opens a client that is closed at the end of the test.
func open(t *testing.T, options kvstore.Options) *kvstore.Client {
	t.Helper()
	options.AppKey = appKey
	if options.DataDirectory == "" {
		options.DataDirectory = t.TempDir()
	}
	client, err := kvstore.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// local opens an empty collection without a backend.
func local(t *testing.T) *kvstore.Collection[note] {
	t.Helper()
	return collection[note](t, open(t, kvstore.Options{LocalOnly: true}), "notes", kvstore.Sync)
}

// online opens a client of a server with a new user logged in.
func online(t *testing.T, host string) *kvstore.Client {
	t.Helper()
	client := open(t, kvstore.Options{AppSecret: appSecret, Host: host})
	members := kvstore.M{"username": unique(), "password": "a password"}
	must(client.Signup(ctx, members))(t)
	return client
}

func collection[T any](
	t *testing.T, client *kvstore.Client, name string, kind kvstore.StoreType,
	options ...kvstore.Option,
) *kvstore.Collection[T] {
	t.Helper()
	opened, err := kvstore.OpenCollection[T](client, name, kind, options...)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// must ends the test unless a call succeeded: value := must(call(…))(t).
func must[V any](value V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func equal[V comparable](t *testing.T, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
