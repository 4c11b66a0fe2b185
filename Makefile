# Everything there is to do here; `make` alone lists it.

# Cells, tests and tools are built from go.mod as it stands, whatever GOFLAGS or go.work a person has.
export GOFLAGS := -mod=readonly $(filter-out -mod=%,$(shell go env GOFLAGS))
export GOWORK := off

NOTEBOOKS := $(wildcard notebooks/*.ipynb)

.PHONY: help tools kernel imports modules test test-long test-features test-arm64 test-whole tightness reproduce notebooks notebooks-check lab lab-check lab-browser html html-check index-check playground playground-check atlas-page site site-check quantise-check tolerance rare order-check network-check wheel wheel-check wheel-bench citation citation-check emulate-check python-notebooks image image-check manifest release release-links assignments grade course-check hub-check audit fuzz generate record atlas judge fmt vet workflows bench clean

help: ## list what there is to do
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

test-arm64: modules ## the short tests of products and their vector code as on arm64, under an emulator (qemu-user-static)
	@.ci/arm64

reproduce: kernel imports ## run the notebooks: every figure, table and claim, and out/index.html
	go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	.bin/roundoff reproduce $(REPRODUCE_FLAGS)

notebooks: out/index.html ## store in the notebooks what they show, as a code host displays it; run them first if they changed
	go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	.bin/roundoff publish
	@touch out/index.html # the results are not older than the notebooks that now show them

notebooks-check: out/index.html ## see that the notebooks show what the last run showed
	go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	.bin/roundoff publish -compare

test: tools modules vet ## the tests, without the long ones
	go test -short ./pkg/...
	go test -timeout 60m ./cmd/... ./internal/...

test-long: tools modules vet ## the tests that make test cuts short, whole, such as every number of a format; LONG=3 a third of them
	go test -timeout 60m -run "$$(.ci/long $(LONG))" ./pkg/...

test-features: tools modules ## the short tests of packages as on a processor without AVX-512, those of products also with still less
	! grep -qw avx512f /proc/cpuinfo || GODEBUG=cpu.avx512f=off go test -short -count=1 -timeout 60m ./pkg/... ./internal/tcvec ./internal/vector
	for off in cpu.avx512vnni=off,cpu.avx512fp16=off cpu.avx2=off; do \
		GODEBUG=$$off go test -short -count=1 ./pkg/tcore/... ./internal/tcvec || exit; done

lab: tools modules ## the notebooks in JupyterLab, from .venv; LAB_FLAGS=--no-browser and the like
	@lab/install.sh
	@lab/start.sh notebooks $(LAB_FLAGS)

lab-check: tools modules ## build .venv and run a notebook in it
	@lab/check.sh

lab-browser: tools modules ## use notebooks 5, 6 and 9 in JupyterLab with a headless Chromium: run, move, save, reopen
	@lab/browser.sh lab/lab_test.py notebooks/05-*.ipynb notebooks/06-*.ipynb
	@lab/browser.sh lab/live_test.py notebooks/09-*.ipynb

html: out/html/made ## the notebooks as pages that need no network, from make reproduce: out/html
	@lab/install.sh

out/html/made: out/index.html lab/export.py lab/page.html.j2
	@for n in $(NOTEBOOKS); do [ -e "out/$$n" ] || { $(MAKE) reproduce && break || exit 1; }; done
	@lab/install.sh
	@rm -f out/html/*.html # also those of notebooks that have another name now
	@.venv/bin/python lab/export.py out/html $(NOTEBOOKS:%=out/%)
	@go run -buildvcs=false ./cmd/roundoff reproduce -page
	@touch $@

html-check: html ## use these pages with a headless Chromium: on a phone, in the dark, by keyboard, without scripts
	@lab/browser.sh lab/pages_test.py $(NOTEBOOKS:%=out/%)
	@lab/browser.sh lab/explore_test.py out/figures/explore-*.html

index-check: html ## use out/index.html with a headless Chromium: folds, large pictures, alone, on a phone, in the dark
	@lab/browser.sh lab/index_test.py out

# Whoever runs only some notebooks, with REPRODUCE_FLAGS, vouches for the others.
out/index.html: go.mod $(NOTEBOOKS) $(wildcard pkg/*/* pkg/*/*/* internal/*/*.go)
	@$(MAKE) reproduce

playground: modules ## what every chip makes of a dot product, as one page without a server: out/site/playground.html
	@go run ./cmd/playground -o out/site/playground.html

playground-check: playground ## use this page with a headless Chromium
	@lab/browser.sh lab/playground_test.py out/site/playground.html

atlas-page: modules ## a page to look through the atlas, without a server: out/site/atlas.html
	@mkdir -p out/site
	@go run -buildvcs=false ./cmd/roundoff atlas page -o out/site/atlas.html

site: playground atlas-page html ## a site without a server, from make reproduce: out/site, to be opened or put anywhere
	@.venv/bin/python lab/site.py

site-check: site ## follow all its links, and look at its pages with a headless Chromium and axe
	@lab/browser.sh lab/site_test.py

quantise-check: modules ## compare roundoff quantise with ml_dtypes, NumPy and gfloat, from .venv
	@lab/install.sh lab/quantise.txt
	@go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	@.venv/bin/python lab/quantise_test.py .bin/roundoff

tolerance: modules ## plant faults into products on every device, and write the tables of docs/tolerance.md: minutes
	go test -count=1 -timeout 60m ./pkg/study -run '^TestPlantedRecord$$' -plant

rare: modules ## estimate how often bounds fail that fail rarely, and write the table of docs/rare.md: minutes
	go test -count=1 -timeout 60m ./pkg/rare -run '^TestThePage$$' -measure

order-check: modules ## find the order of NumPy's sums by asking them, from .venv
	@lab/install.sh lab/quantise.txt
	@go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	@.venv/bin/python lab/order_test.py .bin/roundoff

network-check: modules ## compare how roundoff audit -run computes networks with onnxruntime, from .venv
	@lab/install.sh lab/network.txt
	@go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	@.venv/bin/python lab/network_test.py .bin/roundoff

wheel: ## the package for Python, with the library in it: dist
	@lab/wheel.sh build

wheel-check: modules ## install it on every Python from 3.10 up that is here, and compare it with the command
	@go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	@lab/wheel.sh build
	@lab/wheel.sh check

wheel-bench: ## measure it: sizes, the import, a product beside Go
	@lab/wheel.sh build
	@lab/wheel.sh bench

citation: ## write what archives and journals read, .zenodo.json, codemeta.json and the head of paper.md, from CITATION.cff
	@lab/install.sh citation
	@.venv-citation/bin/python lab/citation.py

citation-check: out/index.html ## have validators read these, the paper, and the results of make reproduce as an RO-Crate
	@lab/install.sh citation
	@.venv-citation/bin/python lab/citation.py --check
	@.venv-citation/bin/python lab/citation_test.py

emulate-check: modules ## networks of JAX and ONNX on emulated devices, and the notebooks for Python, beside what is stored in them
	@go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	@lab/wheel.sh build
	@lab/wheel.sh emulate

python-notebooks: modules ## store in the notebooks for Python what they show
	@lab/wheel.sh build
	@lab/wheel.sh emulate store

image: ## build the container image of the Dockerfile, with docker or else buildah
	@binder/image.sh build

image-check: image ## run all notebooks in the image without a network, and Binder's launch line
	@binder/image.sh check

manifest: ## list every package and module in the image, with its version
	@binder/image.sh manifest

release: ## what a release publishes, from a clone with nothing to commit: out/release
	@go run ./internal/release $(RELEASE_FLAGS)

release-links: ## point README's Binder badge at OWNER=… TAG=…
	@test -n "$(OWNER)" -a -n "$(TAG)" || { echo "make release-links OWNER=… TAG=…"; exit 2; }
	sed -i.bak 's|/v2/gh/[^/]*/roundoff/[^?]*?|/v2/gh/$(OWNER)/roundoff/$(TAG)?|' README.md && rm README.md.bak

assignments: tools modules ## the student versions of the assignments, in notebooks/assignments/release
	@notebooks/assignments/course.sh release

grade: tools modules ## grade what is in notebooks/assignments/submitted; GRADE_FLAGS=--force does so again
	@notebooks/assignments/course.sh grade $(GRADE_FLAGS)

course-check: tools modules ## hand made-up answers through nbgrader and compare their scores
	@notebooks/assignments/check.sh

hub-check: tools modules ## on a hub on this machine, have one student pry, which takes root, and twenty work
	@deploy/check.sh

audit: ## ask databases of vulnerabilities about all that is pinned here
	@lab/audit.sh

fuzz: ## look for inputs that break what is fuzzed, and bounds that fail, FUZZTIME=10s or 1000x each
	@.ci/fuzz $(FUZZTIME)

fmt: ## format the Go files
	gofmt -l -w .

vet: ## look for mistakes that compile
	go vet ./...

workflows: ## look for mistakes in what a code host is to do, .github/workflows
	@go tool -modfile=tools/go.mod actionlint

generate: ## write the vector kernels and the header of the library anew
	go generate ./internal/vector ./pkg/tcore ./cmd/libroundoff

# One seed after the other: what is there already is not computed again.
record: ## sweep anew what notebook 11 shows from its records, half an hour; out/sweep keeps the seeds
	go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	mkdir -p out/sweep
	cd out/sweep && for seed in 201 202 203; do \
		[ -s seed-$$seed.csv ] || \
			../../.bin/roundoff sweep -ranges=false -m 1024 -n 8 -k 256,4096,32768 -seeds $$seed -o seed-$$seed.csv || exit; \
	done
	.bin/roundoff sweep -join -o pkg/study/recorded/sweep.csv out/sweep/seed-*.csv
	.bin/roundoff sweep -ranges=false -devices cdna1,cdna2,cdna3,cdna3-fp8 -dist 'U(-1,1),U(0,1),N(0,1)' -m 64 -n 8 \
		-k 100,1000,10000 -seeds 201:203 -o pkg/study/recorded/amd.csv
	.bin/roundoff sweep -devices blackwell-mxf8,blackwell-tcgen05-f4e8m0x32-binary32,blackwell-nvf4 -m 16 -n 8 -k 100,1000,10000 \
		-dist 'blocks(-9,8.8,U(-1,1)),blocks(-4,4,N(0,1)),blocks(-60,60,N(0,1))' -seeds 201:203 -o pkg/study/recorded/scaled.csv
	.bin/roundoff sweep -ranges=false -per-output -confidence 0.9,0.99,0.999 -m 1000 -n 1000 -k 256 -dist 'U(-1,1),U(0,1)' -seeds 1 \
		-o pkg/study/recorded/coverage.csv

# Draws that are there already are not computed again: the sweep goes on with its file.
atlas: ## sweep the atlas anew, pkg/atlas/data, twenty minutes of a core; out/atlas keeps the sweep
	go build -o .bin/roundoff ./cmd/roundoff
	mkdir -p out/atlas
	.bin/roundoff sweep -atlas -seeds 201:203 -shard 1/1 -o out/atlas/sweep.csv
	.bin/roundoff atlas make -o pkg/atlas/data out/atlas/sweep.csv
	.bin/roundoff atlas check pkg/atlas/data

judge: ## put every bound to every device, data of all kinds and K short and long, half an hour; out/standard.csv
	go build -buildvcs=false -o .bin/roundoff ./cmd/roundoff
	mkdir -p out
	.bin/roundoff sweep -standard -seeds 1:3 -o out/standard.csv

tightness: ## how near errors of quantised products come to their bounds, and how often they exceed them; half an hour
	go test -count=1 -timeout 2h -v -run 'Tightness|Coverage' ./pkg/quantisation -whole

test-whole: ## ten times as many orders of sums and multiply-adds, predictions of the longest sums, and a million rows of a GPU: an hour
	go test -count=1 -timeout 4h ./pkg/plan ./pkg/bound ./pkg/tcore ./pkg/probe -whole

bench: ## time the products and the rounding, and OpenBLAS in turn (libopenblas-dev); BENCH_FLAGS='-rounds=9 -fastest' or -avx2
	@set -f; go run ./internal/bench $$BENCH_FLAGS

clean: ## remove all that was made here: out, dist, .bin, .venv
	rm -rf out dist .bin .venv .venv-courses .venv-citation

tools: kernel .bin/gopls ## build the pinned gonb, goimports and gopls into .bin

kernel: .bin/gonb .bin/goimports # what runs cells; gopls, which completes names for people, takes longer to build than both

# Cells are built in a workspace and without network: it reads the go.mod of every module, also of
# those that no package imports, and what cells import is compiled before the first one asks for it.
imports:
	@go list -m all >/dev/null
	go build -buildvcs=false ./pkg/...

modules: imports
	go build -buildvcs=false ./...

.bin/gonb: tools/go.mod tools/go.sum
	GOBIN="$(CURDIR)/.bin" go -C tools install github.com/janpfeifer/gonb
	@touch $@

.bin/goimports: tools/go.mod tools/go.sum
	GOBIN="$(CURDIR)/.bin" go -C tools install golang.org/x/tools/cmd/goimports
	@touch $@

.bin/gopls: tools/go.mod tools/go.sum
	GOBIN="$(CURDIR)/.bin" go -C tools install golang.org/x/tools/gopls
	@touch $@
