# What a machine with Swift, gcc, make and Python 3 needs to build, try and test libkvstore.
# `make help` lists the targets. What is missing on a Debian machine is installed on the way.

PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
# arm64, on a machine with another processor: build/arm64 has what is made for it. Empty: for this machine.
ARCH    ?=

# The header is the one place that knows the version.
VERSION := $(shell awk '/define KV_VERSION_(MAJOR|MINOR|PATCH)/ { v = v d $$3; d = "." } END { print v }' include/kvstore.h)

# As Go and Debian call the processors.
GOARCH  := $(or $(ARCH),$(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(shell uname -m))))

.PHONY: help docs lib sdk-arm64 wheel go-static deb dist packages-check demo demo-cluster demo-restore demo-models test test-all torture bench install uninstall format lint setup clean

help:
	@echo 'make lib        build/lib/libkvstore.so and build/bin/kvstored'
	@echo 'make wheel      build/wheel: a Python wheel for every Linux with glibc 2.28, and the source distribution'
	@echo 'make go-static  bindings/go/static: the library to link statically by the build tag kvstore_static'
	@echo 'make deb        build/deb: libkvstore0, libkvstore-dev, kvstored, python3-kvstore, kvstore-cli'
	@echo 'make sdk-arm64  build/sdk/arm64: what it takes to compile for arm64 here; lib, wheel, go-static and deb know ARCH=arm64'
	@echo 'make dist       build/kvstore-$(VERSION).tar.xz: the sources'
	@echo 'make docs       build/docs/site: the documentation, to be read from the disk or any web server'
	@echo 'make demo       C, Python and Go share a collection of real cities, offline and online'
	@echo 'make demo-cluster   the same on PostgreSQL with a standby, two kvstored and haproxy, of which some are killed'
	@echo 'make demo-restore   a server goes back to its backup, and five devices give back what it has lost'
	@echo 'make demo-models    typed models of a GraphQL schema, offline, then with a stand-in for AppSync and live'
	@echo 'make test       the tests of every change, 15 minutes; ONLY="swift python" runs some (scripts/test.py --list)'
	@echo 'make test-all   all tests, 40 minutes'
	@echo 'make packages-check   installs the packages into fresh Debian systems; as root, some minutes'
	@echo 'make torture    WORLDS=20000 simulated worlds of each backend, SECONDS=300 of bad network, KILLS=500, fuzzing, all Swift tests with threads under the thread sanitizer: build/torture.json'
	@echo 'make bench      measures against hand-written C; writes docs/benchmarks.json, docs/benchmarks.md'
	@echo 'make install    headers, library, pkg-config, CMake and kvstored into PREFIX ($(PREFIX)); LIBDIR, DESTDIR work'
	@echo 'make uninstall  removes what install put there'
	@echo 'make format     formats Swift, Python and Go;  make lint  only looks'
	@echo 'make setup      installs what building and testing need, and nothing else'
	@echo 'make clean      removes what was built'

lib: $(if $(ARCH),sdk-$(ARCH))
	@scripts/setup build
	@scripts/build-library $(VERSION) $(ARCH)

sdk-arm64:
	@scripts/setup cross
	@scripts/make-sdk arm64

wheel: lib
	@scripts/setup wheel
	@scripts/build-wheel $(ARCH)

go-static: lib
	@scripts/setup wheel
	@packaging/portable/build static $(ARCH)
	@packaging/portable/build bill $(VERSION) build/$(addsuffix /,$(ARCH))portable/libkvstore.a $(ARCH)
	@mkdir -p bindings/go/static/$(GOARCH)
	@cp $(addprefix build/$(addsuffix /,$(ARCH))portable/,libkvstore.a libkvstore.a.cdx.json THIRD-PARTY-LICENSES.txt) bindings/go/static/$(GOARCH)/
	@cp include/kvstore.h bindings/go/static/

deb: lib
	@scripts/setup deb
	@scripts/build-deb $(VERSION) $(ARCH)

dist:
	@mkdir -p build
	@rm -f build/kvstore-*.tar.xz
	git archive --prefix=kvstore-$(VERSION)/ HEAD | xz > build/kvstore-$(VERSION).tar.xz

packages-check: wheel deb
	@scripts/setup packages
	@build/venv/bin/python Tests/Packages/roots.py

docs: lib
	@scripts/setup docs
	@build/venv/bin/python scripts/build_docs.py

demo: lib
	@scripts/setup demo
	@build/venv/bin/python examples/demo/run.py

demo-cluster: lib
	@scripts/setup cluster
	@build/venv/bin/python examples/demo/cluster.py

demo-restore: lib
	@scripts/setup demo
	@build/venv/bin/python examples/demo/restore.py

demo-models: lib
	@scripts/setup demo
	@PYTHONPATH=bindings/python/src KVSTORE_LIBRARY=build/lib/libkvstore.so build/venv/bin/python examples/models/demo.py

test: lib
	@scripts/setup test
	@build/venv/bin/python scripts/test.py $(ONLY)

test-all: lib
	@scripts/setup test
	@build/venv/bin/python scripts/test.py --all

torture: lib
	@scripts/setup test
	@build/venv/bin/python Tests/Torture/run.py $(or $(WORLDS),20000) $(or $(SECONDS),300) $(or $(KILLS),500)
	@KVSTORED_TEST_STORAGE=postgres KVSTORE_LIBRARY=build/lib/libkvstore.so LD_LIBRARY_PATH=build/lib \
	  scripts/with-postgres build/venv/bin/python Tests/Differential/differential.py 20000
	@Tests/Fuzz/run --seconds $(or $(SECONDS),300)
	@build/venv/bin/python scripts/test.py threads-all

bench: lib
	@scripts/setup bench
	@build/venv/bin/python Benchmarks/run.py $(ONLY)

install uninstall:
	@PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' scripts/install-files $@ $(VERSION)

format: setup
	swift format -i -r Package.swift Sources Tests examples/swift
	build/venv/bin/ruff format bindings/python examples/python scripts Benchmarks
	gofmt -w bindings/go examples/go Tests/AppSync/programs/go

lint: setup
	@build/venv/bin/python scripts/lint.py

setup:
	@scripts/setup build demo test

clean:
	rm -rf build .build
