package kvstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const secretText = "marker-that-must-not-be-seen"

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func encrypted(directory string, key kvstore.Key) kvstore.Options {
	return kvstore.Options{AppKey: "app", LocalOnly: true, DataDirectory: directory, EncryptionKey: key}
}

func fillEncrypted(t *testing.T, options kvstore.Options) {
	t.Helper()
	client := must(kvstore.Open(options))(t)
	defer client.Close()
	notes := must(kvstore.OpenCollection[note](client, "notes", kvstore.Sync))(t)
	defer notes.Close()
	must(notes.Save(ctx, note{ID: "a", Text: secretText}))(t)
}

func openNotes(options kvstore.Options) error {
	client, err := kvstore.Open(options)
	if err != nil {
		return err
	}
	defer client.Close()
	notes, err := kvstore.OpenCollection[note](client, "notes", kvstore.Sync)
	if err != nil {
		return err
	}
	defer notes.Close()
	_, err = notes.Get(ctx, "a")
	return err
}

func filesWith(t *testing.T, text, directory string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	succeeds(t, err)
	return found
}

func TestEncryptedDataOpensWithItsKeyOnly(t *testing.T) {
	directory, key := t.TempDir(), bytes.Repeat([]byte{7}, 32)
	fillEncrypted(t, encrypted(directory, key))
	equal(t, len(filesWith(t, secretText, directory)), 0)
	succeeds(t, openNotes(encrypted(directory, key)))
	for _, wrong := range []kvstore.Key{nil, bytes.Repeat([]byte{8}, 32), kvstore.Passphrase("guessed")} {
		if err := openNotes(encrypted(directory, wrong)); !errors.Is(err, kvstore.ErrKey) {
			t.Errorf("with %v: %v", wrong, err)
		}
	}
	if err := openNotes(encrypted(directory, []byte{1})); !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
}

func TestAProviderGivesTheKey(t *testing.T) {
	directory := t.TempDir()
	asked := 0
	succeeds(t, kvstore.SetKeyProvider("keyring", func(string) (kvstore.Key, error) {
		asked++
		return kvstore.Passphrase("correct horse"), nil
	}))
	defer func() { succeeds(t, kvstore.SetKeyProvider("keyring", nil)) }()
	fillEncrypted(t, encrypted(directory, kvstore.KeyProviderName("keyring")))
	equal(t, asked, 1)
	succeeds(t, openNotes(encrypted(directory, kvstore.Passphrase("correct horse"))))
}

func TestAKeyIsChangedAndDataIsEncryptedAnew(t *testing.T) {
	directory, first, second := t.TempDir(), bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	fillEncrypted(t, encrypted(directory, nil))
	report := must(kvstore.Encrypt(encrypted(directory, nil), first))(t)
	equal(t, report.Files, 1)
	equal(t, len(filesWith(t, secretText, directory)), 0)
	client := must(kvstore.Open(encrypted(directory, first)))(t)
	equal(t, len(must(client.ChangeKey("main", second))(t)), 1)
	names := must(client.ChangeKey("recovery", kvstore.Passphrase("on paper")))(t)
	equal(t, len(names), 2)
	equal(t, names[1], "recovery")
	equal(t, len(must(client.ChangeKey("recovery", nil))(t)), 1)
	client.Close()
	if err := openNotes(encrypted(directory, first)); !errors.Is(err, kvstore.ErrKey) {
		t.Error(err)
	}
	must(kvstore.Encrypt(encrypted(directory, second), nil))(t)
	succeeds(t, openNotes(encrypted(directory, nil)))
}

func TestWhatIsSalvagedIsEncrypted(t *testing.T) {
	directory, options := t.TempDir(), encrypted(t.TempDir(), bytes.Repeat([]byte{1}, 32))
	fillEncrypted(t, options)
	report := must(kvstore.Salvage(options, filepath.Join(directory, "saved")))(t)
	equal(t, report.Pending.File, "pending.ndjson.encrypted")
	equal(t, len(filesWith(t, secretText, directory)), 0)
	plain := must(os.Create(filepath.Join(directory, "plain")))(t)
	defer plain.Close()
	file := filepath.Join(directory, "saved", report.Collections["notes"].File)
	succeeds(t, kvstore.DecryptFile(options, file, plain))
	equal(t, len(filesWith(t, secretText, directory)), 1)
	options.EncryptionKey = bytes.Repeat([]byte{2}, 32)
	if err := kvstore.DecryptFile(options, file, plain); !errors.Is(err, kvstore.ErrKey) {
		t.Error(err)
	}
}
