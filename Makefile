# Make gives the order and the words; digests decide what is fresh. Targets never compare times.
CONFIG ?= configs/demo.toml
DATA_DIR ?=
PUBLISHED ?= published
SET ?=
SECONDS ?= 600
PREFIX ?= $(HOME)/.local
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
TARGET := $(or $(CARGO_TARGET_DIR),target)/release
VEILGRAPH := $(TARGET)/veilgraph
FOLDERS = $(if $(DATA_DIR),--data-dir $(DATA_DIR)) $(if $(PUBLISHED),--published $(PUBLISHED)) $(SET)
ARGUMENTS = $(CONFIG) $(FOLDERS)

.DELETE_ON_ERROR:
.PHONY: all help build demo run plan report ingest privatize similarity estimate construct train evaluate format quick test check check-cuda \
	test-cuda test-vulkan test-example test-faults test-deployment client audit-mechanisms digests fuzz deny advisories book install python test-dask bench-dask test-page picture claims dist bench bench-cuda parity compare paper paper-quick pgc lpgnn joint node-level advise audit audit-quick clean

all: build
help:                     ## List the targets
	@sed -n 's/^\([a-z][a-z -]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r names text; do \
		printf '%-18s %s\n' "$$names" "$$text"; done
build:                    ## Build the program
	cargo build --release --locked
demo: build               ## Run the synthetic default through all stages and write its report
	$(VEILGRAPH) run configs/demo.toml && $(VEILGRAPH) report configs/demo.toml
run: build                ## Run an experiment: make run CONFIG=... DATA_DIR=... SET='--set a.b=c'
	$(VEILGRAPH) run $(ARGUMENTS)
plan: build               ## Say what would run and why
	$(VEILGRAPH) plan $(ARGUMENTS)
report: build             ## Write the page of an experiment that has run
	$(VEILGRAPH) report $(ARGUMENTS)
ingest privatize similarity estimate construct train evaluate: build   ## Run an experiment up to this stage
	$(VEILGRAPH) run $(ARGUMENTS) --until $@
# A macro declares the modules of systems, so `cargo fmt` does not find their files.
RUSTFMT_SYSTEMS = rustfmt --edition 2024 pipeline/runner/src/systems/*/*.rs
format:                   ## Format all Rust files
	cargo fmt --all
	$(RUSTFMT_SYSTEMS)
CRATE ?= veilgraph-estimate
quick:                    ## The inner loop for one crate: format, lint, test: make quick CRATE=veilgraph-privatize
	cargo fmt -p $(CRATE) --check
	$(RUSTFMT_SYSTEMS) --check
	cargo clippy --release --locked -p $(CRATE) --all-targets -- -D warnings
	cargo test --release --locked -p $(CRATE)
# Tests make and remove thousands of small files, which on a disk takes longer than what they test. At any time they have some
# 40 MB, which go to memory where it has room and programs may run from there. `TMPDIR=/tmp make test` keeps them on disk.
ROOM_IN_MEMORY = test -w /dev/shm && ! grep -q ' /dev/shm .*noexec' /proc/mounts && test "$$(df --output=avail /dev/shm | tail -1)" -gt 1000000
test:                     ## All tests; those on real graphs need DATA_DIR
	if test -z "$$TMPDIR" && $(ROOM_IN_MEMORY); then export TMPDIR=/dev/shm; fi; \
		$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) cargo test --release --locked --workspace
check:                    ## Formatting, lints, tests, documentation
	cargo fmt --check
	$(RUSTFMT_SYSTEMS) --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings
	cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml > /dev/null # fails where fuzz/Cargo.lock is out of date
	cargo check --release --locked -p veilgraph-client --no-default-features --lib # the library of a node needs no std
	$(MAKE) test
	RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --workspace --no-deps --quiet
test-example: build       ## Follow docs/add-a-mechanism.md on a copy: two new files, two lines, compiled, tested and run
	python3 tests/example/add_a_mechanism.py --target $(dir $(TARGET))
test-faults:              ## Kills, races, flipped bits, full disks, faults at every system call (minutes)
	cargo test --release --locked -p veilgraph --test faults -- --ignored --test-threads 1
test-deployment: build    ## A deployment of Cora: 2,708 client processes, a server, an auditor (as root each is a user of its own)
	$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) cargo test --release --locked -p veilgraph --test deployment -- --ignored --nocapture --test-threads 1
client:                   ## The program of a node by itself, linked statically
	RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p veilgraph-client --target $(HOST) --target-dir $(dir $(TARGET))client
audit-mechanisms:         ## Lower bounds of epsilon and laws of the noise, from millions of releases
	AUDIT=1 cargo test --release --locked -p veilgraph-privacy --test mechanisms -- --nocapture --test-threads 1
	AUDIT=1 cargo test --release --locked -p veilgraph --test end_to_end -- --nocapture --test-threads 1
digests: build            ## Compare the bytes of server artifacts with those of tests/golden/digests.csv: make digests DATA_DIR=...
	python3 tests/golden/digests.py --veilgraph $(VEILGRAPH) $(if $(DATA_DIR),--data-dir $(DATA_DIR)) \
		$(if $(PUBLISHED),--published $(PUBLISHED)) --against tests/golden/digests.csv
fuzz:                     ## Fuzz the parsers of data, configs, parameters, artifacts and reports: make fuzz SECONDS=600
	fuzz/run.sh $(SECONDS)
# Debian's Selenium belongs to Debian's Python.
PYTHON_OF_SELENIUM ?= /usr/bin/python3
REPORTS = $(or $(VEILGRAPH_STORE),artifacts)/auditor/reports
PAGES = features curator audit one joint
test-page: demo           ## Look at pages in a headless Chromium (Debian: chromium chromium-driver python3-selenium)
	for page in $(PAGES); do $(VEILGRAPH) -q run tests/page/$$page.toml > $(TARGET)/page-$$page.txt && \
		$(VEILGRAPH) -q report tests/page/$$page.toml || exit 1; done
	rm -f $(REPORTS)/page-advise.html $(REPORTS)/page-advise-worth.html
	$(VEILGRAPH) -q advise --nodes 22470 --mean-degree 15 --classes 4 --report $(REPORTS)/page-advise.html > $(TARGET)/page-advise.txt
	$(VEILGRAPH) -q advise --nodes 300 --mean-degree 6 --classes 3 --features-accuracy 0.6 --mechanism blink,rr --epsilon 1,3,5,6,8 \
		--surrogates 1 --set train.epochs=10 --report $(REPORTS)/page-advise-worth.html > $(TARGET)/page-advise-worth.txt
	$(VEILGRAPH) -q claims claims.toml --quick --only scaling > $(TARGET)/page-claims.txt || test $$? = 1
	$(PYTHON_OF_SELENIUM) tests/page/look.py $(REPORTS)/demo.html $(PAGES:%=$(REPORTS)/page-%.html) $(REPORTS)/page-advise.html \
		$(REPORTS)/page-advise-worth.html $(REPORTS)/claims-quick.html --shots $(TARGET)/pages
picture: demo             ## Take the picture of the README from the demo's page
	$(PYTHON_OF_SELENIUM) tests/page/look.py $(REPORTS)/demo.html --readme docs/demo.png
claims: build             ## A verdict for every claim of claims.toml on Cora, in minutes: make claims DATA_DIR=...
	$(VEILGRAPH) claims claims.toml --quick $(FOLDERS)
VENV = $(TARGET)/python
python:                   ## Build the wheel, install it, check and test the Python module, run the notebook
	test -x $(VENV)/bin/pip || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet '.[test]'
	$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	env -u VEILGRAPH $(VENV)/bin/python -m pytest -q
	env -u VEILGRAPH $(VENV)/bin/python docs/notebook.py > $(TARGET)/notebook.txt
DASK = $(TARGET)/dask
$(DASK)/bin/pytest: tests/dask/requirements.txt
	test -x $(DASK)/bin/pip || python3 -m venv $(DASK)
	$(DASK)/bin/pip install --quiet -r $< && touch $@
test-dask: build $(DASK)/bin/pytest   ## Runs with other machines, on loopback: Dask, a stand-in for Slurm, object storage
	cd tests/dask && VEILGRAPH=$(abspath $(VEILGRAPH)) $(abspath $(DASK))/bin/python -m pytest -q --rootdir . -p no:cacheprovider
bench-dask: build $(DASK)/bin/pytest  ## What other machines cost and bring, and what that foretells for many of them
	VEILGRAPH=$(abspath $(VEILGRAPH)) $(DASK)/bin/python docs/benchmarks/scale.py measure --out $(TARGET)/scale.json
	$(DASK)/bin/python docs/benchmarks/scale.py model $(TARGET)/scale.json
TOOLS = $(HOME)/.cache/veilgraph-tools
book:                     ## Make the book of docs/ (book/index.html; mdBook is built once)
	test -x $(TOOLS)/bin/mdbook || env -u CARGO_TARGET_DIR cargo install mdbook --version 0.5.4 --locked --no-default-features --features search --root $(TOOLS)
	$(TOOLS)/bin/mdbook build
	grep -rlE 'href="(\.\./)+(README|ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.html' book | xargs -r sed -i -E 's#href="((\.\./)+)(README|ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.html#href="\1\3.md#g'
install: build            ## Install program, manual pages and completions: make install PREFIX=/usr/local
	rm -rf $(TARGET)/man && $(VEILGRAPH) -q man --to $(TARGET)/man
	install -Dt $(PREFIX)/bin $(VEILGRAPH)
	install -Dm644 -t $(PREFIX)/share/man/man1 $(TARGET)/man/*.1
	install -d $(PREFIX)/share/bash-completion/completions
	$(VEILGRAPH) completions bash > $(PREFIX)/share/bash-completion/completions/veilgraph
dist: build               ## Make an archive for machines that do not build: both programs, manual pages, completions, licences
	python3 .ci/dist.py --program $(VEILGRAPH) --client $(TARGET)/veilgraph-client --to $(TARGET)/dist
deny:                     ## Licences and sources of dependencies, and packages that are not wanted (cargo-deny)
	cargo deny --locked check bans licenses sources
	cargo deny --locked --manifest-path fuzz/Cargo.toml check bans licenses sources
advisories:               ## Known vulnerabilities and withdrawn versions among dependencies (cargo-deny; reads a database on GitHub)
	cargo deny --locked check advisories
check-cuda:               ## Compile the CUDA path (no GPU needed)
	cargo check --release --locked -p veilgraph --features cuda
test-cuda:                ## The GPU kernels on an NVIDIA GPU, against the processor
	cargo test --release --locked -p veilgraph-nn --features cuda -- ops:: device:: footprint::
test-vulkan:              ## The GPU kernels on any Vulkan driver, a software one (mesa-vulkan-drivers) included
	cargo test --release --locked -p veilgraph-nn --features vulkan -- ops:: device:: footprint::
bench: build              ## Time algorithms, whole runs, a million nodes, first build and tests; foretell make paper (needs DATA_DIR; an hour)
	cargo bench --profile release --locked -p veilgraph-privacy --bench noise
	cargo bench --profile release --locked -p veilgraph-posterior --bench links
	cargo bench --profile release --locked -p veilgraph-graph --bench products
	cargo bench --profile release --locked -p veilgraph-operator --bench propagation
	cargo bench --profile release --locked -p veilgraph-nn --bench link_prediction --bench training
	cargo bench --profile release --locked -p veilgraph-attack --bench influence
	cargo bench --profile release --locked -p veilgraph --bench central
	$(if $(DATA_DIR),DATA_DIR=$(abspath $(DATA_DIR))) cargo bench --profile release --locked -p veilgraph --bench server_side
	python3 docs/benchmarks/pipeline.py --veilgraph $(VEILGRAPH) $(if $(DATA_DIR),--data-dir $(DATA_DIR))
	python3 docs/benchmarks/training.py --veilgraph $(VEILGRAPH) $(if $(DATA_DIR),--data-dir $(DATA_DIR))
	python3 docs/benchmarks/speed.py --million --veilgraph $(VEILGRAPH) $(if $(DATA_DIR),--data-dir $(DATA_DIR))
	$(if $(and $(DATA_DIR),$(PUBLISHED)),python3 docs/benchmarks/paper_time.py --veilgraph $(VEILGRAPH) --data-dir $(DATA_DIR) --published $(PUBLISHED))
	python3 docs/benchmarks/build.py --tests $(if $(DATA_DIR),--data-dir $(DATA_DIR))
bench-cuda:               ## Train on an NVIDIA GPU: grids, and every published choice of Blink on Cora (needs DATA_DIR)
	cargo build --release --locked --features cuda
	python3 docs/benchmarks/training.py --veilgraph $(VEILGRAPH) --data-dir $(DATA_DIR) --device cuda --all-pairs
	python3 docs/benchmarks/training.py --veilgraph $(VEILGRAPH) --data-dir $(DATA_DIR) --device cuda \
		--datasets facebook --models gcn --variants hybrid
	bash -c "time $(VEILGRAPH) run configs/blink-grid.toml --data-dir $(DATA_DIR) --device cuda"
parity: build             ## Our figures beside the published ones: make parity DATA_DIR=...
	python3 docs/benchmarks/parity.py --data-dir $(DATA_DIR) --published $(PUBLISHED) --veilgraph $(VEILGRAPH)
compare: CONFIG = configs/compare.toml configs/compare-accuracy.toml
compare: build            ## What each addition to the published estimator is worth, and what networks make of it beside floors and ceiling (needs DATA_DIR)
	$(VEILGRAPH) run $(CONFIG) $(FOLDERS) && $(VEILGRAPH) report $(CONFIG) --name compare $(FOLDERS)
paper: build              ## Every table and figure of the Blink paper, beside the published ones: make paper DATA_DIR=... (hours)
	$(VEILGRAPH) run configs/paper/*.toml $(FOLDERS) && $(VEILGRAPH) report configs/paper/*.toml --name paper $(FOLDERS)
paper-quick: build        ## The same on Cora, few trials, in less than half an hour
	$(VEILGRAPH) run configs/paper-quick/*.toml $(FOLDERS) && $(VEILGRAPH) report configs/paper-quick/*.toml --name paper-quick $(FOLDERS)
ATTRIBUTES = python3 docs/benchmarks/private_attributes.py $(if $(PUBLISHED),--published $(PUBLISHED))
pgc: build                ## Private features over public links (PGC): tables, figures, gains over the floor: make pgc DATA_DIR=...
	$(VEILGRAPH) run configs/pgc/*.toml $(FOLDERS) && $(VEILGRAPH) report configs/pgc/*.toml --name pgc $(FOLDERS) && $(ATTRIBUTES) pgc
lpgnn: build              ## Private features and labels over public links (LPGNN), likewise
	$(VEILGRAPH) run configs/lpgnn/*.toml $(FOLDERS) && $(VEILGRAPH) report configs/lpgnn/*.toml --name lpgnn $(FOLDERS) && $(ATTRIBUTES) lpgnn
joint: build              ## Links, features and labels private together, on every combination of budgets
	$(VEILGRAPH) run configs/joint*.toml $(FOLDERS) && $(VEILGRAPH) report configs/joint*.toml --name joint $(FOLDERS) && $(ATTRIBUTES) joint
advise: build             ## What `veilgraph advise` foretells, beside runs on real graphs (half an hour; needs DATA_DIR)
	python3 docs/benchmarks/advise.py --veilgraph $(VEILGRAPH) --data-dir $(DATA_DIR)
node-level: build         ## Models of a trusted curator, all data of a node protected, sound and claimed costs side by side (needs DATA_DIR)
	$(VEILGRAPH) run configs/node-level/*.toml $(FOLDERS) && $(VEILGRAPH) report configs/node-level/*.toml --name node-level $(FOLDERS) && python3 docs/benchmarks/node_level.py $(if $(PUBLISHED),--published $(PUBLISHED))
audit: CONFIG = configs/audit.toml configs/audit-canaries.toml configs/audit-attributes.toml configs/audit-shadow.toml \
	configs/audit-million.toml configs/audit-models.toml
audit: build              ## Attacks on every mechanism and network on Cora, and lower bounds of epsilon from canaries (needs DATA_DIR)
	$(VEILGRAPH) run $(ARGUMENTS) && $(VEILGRAPH) report $(ARGUMENTS) --name audit && python3 docs/benchmarks/audit.py
audit-quick: CONFIG = configs/audit-quick.toml
audit-quick: build        ## The same for one network and one trial, in less than a minute
	$(VEILGRAPH) run $(ARGUMENTS) && $(VEILGRAPH) report $(ARGUMENTS)
clean: build              ## Remove all artifacts but the privacy ledger and releases of deployments
	$(VEILGRAPH) gc --all
