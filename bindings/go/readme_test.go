package kvstore_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestEverySampleOfTheReadmeIsPartOfAnExample(t *testing.T) {
	readme := string(must(os.ReadFile("README.md"))(t))
	examples := unindented(string(must(os.ReadFile("example_test.go"))(t)))
	samples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(samples) < 4 {
		t.Errorf("only %d samples", len(samples))
	}
	for _, sample := range samples {
		if !strings.Contains(examples, unindented(sample[1])) {
			t.Errorf("no example has:\n%s", sample[1])
		}
	}
}

// unindented is text without indentation, which differs between a page and a function.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}
