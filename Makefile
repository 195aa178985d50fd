# Needs Python 3.11 or newer and make. Everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv, with this system's certificates, installs in half the time that pip takes; where it cannot be had or fails, pip does it
UV := UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 $(BIN)/uv pip install --quiet --python $(BIN)/python
install = { $(PIP) install uv && $(UV) $(1); } || $(PIP) install $(1)

.PHONY: help demo test test-long test-loaded bench docs pictures browser kernels wheel venv clean

help:
	@echo "make demo    install the package and show what it does"
	@echo "make test    install what developers need and run every check"
	@echo "make test-long  run the long sweeps that make test leaves out"
	@echo "make test-loaded  run the tests ten times in a row on a machine that other processes keep busy"
	@echo "make bench   measure the speed"
	@echo "make kernels  compile all kernels into a library, which this tree uses until one of them is edited"
	@echo "make wheel   build the wheel with that library, for this platform, and one without, into dist/"
	@echo "make browser   install chromium for the tests of pages, where that is possible"
	@echo "make docs    build the documentation site into site/, without network"
	@echo "make pictures  draw the pictures of the documents anew"
	@echo "make venv    only install (package and developers' tools) into $(VENV)"
	@echo "make clean   remove $(VENV) and everything that was generated"

demo: $(VENV)/.package-installed
	$(BIN)/varichain list
	@mkdir -p out
	$(BIN)/varichain run highbar --out out/highbar.h5 --overwrite
	$(BIN)/varichain export out/highbar.h5 --to out/highbar.html --overwrite
	$(BIN)/varichain plot out/highbar.h5 --out out/highbar.png --overwrite
	@echo "open out/highbar.html in a browser to watch it, and out/highbar.png to see it over time"

test: venv browser
	$(BIN)/python tools/run_checks.py

test-long: venv browser
	$(BIN)/python -m pytest -m long -n auto
	NUMBA_DISABLE_JIT=1 VARICHAIN_ALL_CASES=1 $(BIN)/python -m pytest -n auto

test-loaded: venv browser
	$(BIN)/python tools/build_kernels.py --cache
	$(BIN)/python tools/run_under_load.py

# Debian's chromium; where it cannot be installed, tests that need a browser are skipped and say so.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)

browser:
	@command -v chromium chromium-browser > /dev/null || { \
		echo "installing chromium for the tests of pages"; \
		{ $(SUDO) env $(APT) update && $(SUDO) env $(APT) install -y --no-install-recommends chromium fonts-dejavu-core; } \
			> /dev/null 2>&1 || echo "chromium cannot be installed here; tests that need a browser will be skipped"; }

kernels: venv
	$(BIN)/python tools/build_kernels.py

wheel: venv
	$(BIN)/python -m build --wheel --outdir dist
	VARICHAIN_PURE=1 $(BIN)/python -m build --wheel --outdir dist

bench: venv
	$(BIN)/varichain bench

docs: venv
	$(BIN)/python tools/write_api.py
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html in a browser"

pictures: venv browser
	$(BIN)/python tools/draw_pictures.py
	$(BIN)/python tools/draw_examples.py
	$(BIN)/python tools/draw_films.py
	$(BIN)/python tools/draw_looks.py
	$(BIN)/python tools/photograph_viewer.py

venv: $(VENV)/.dev-installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("varichain needs Python 3.11 or newer, not " + sys.version.split()[0] + "; name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.package-installed: pyproject.toml | $(BIN)/python
	@echo "installing varichain into $(VENV)"
	@$(call install,--editable '.[plot]')
	@touch $@

$(VENV)/.dev-installed: pyproject.toml | $(BIN)/python
	@echo "installing varichain and the developers' tools into $(VENV)"
	@$(call install,--editable '.[dev]')
	@# for its robot files alone: what it depends on needs a desktop; tests of it are skipped without it
	$(PIP) install --no-deps 'reachy-mini>=1.0' || true
	@# what Khronos checks glTF files with; a test of it is skipped without it
	@command -v npm >/dev/null && npm install --silent --no-save --prefix $(VENV) gltf-validator || true
	@touch $(VENV)/.package-installed $@

clean:
	rm -rf src/varichain/kernels/library-* $(VENV) build dist out site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
