/* Found if there is no other kvstore.h: see library_static.go. */
#error "the build tag kvstore_static needs the folder static, which `make go-static` fills: see bindings/go/README.md"
