# The commands a person types. The build itself is in CMakeLists.txt and CMakePresets.json.
RIGOR_DATA ?= ../shared/data
export RIGOR_DATA := $(abspath $(RIGOR_DATA))
CTEST = ctest --output-on-failure --no-tests=error -j2
SOURCES = $(shell git ls-files '*.c' '*.h')
QUOTING = $(shell grep -rl --include='*.md' '<!-- quote from ' README.md docs)

.PHONY: all demo cuda test test-all whole browser clang tsan valgrind fuzz attack mutants soak bench bench-full bench-keep bench-quotes bench-quick reconfigured analysis tidy cppcheck analyzer \
	setup-check audit python test-python test-wheel wheel wheel-aarch64 sdist aarch64 windows macos dist deb api site gallery clean-machine install uninstall format format-check clean

all: build/release/.configured
	cmake --build --preset release

build/%/.configured: CMakeLists.txt CMakePresets.json
	cmake --preset $*
	@touch $@

# Run the main job on a built-in scene; build/demo.html plays it in a browser. Builds the program alone.
demo: build/release/.configured
	cmake --build --preset release --target rigor_cli
	build/release/rigor demo --export build/demo.html

# librigor_cuda.so beside the release build, where there is nvcc; some minutes.
cuda: build/release/.configured
	cmake --build --preset release --target rigor_cuda

# One release build and one ASan+UBSan build, unit and data tests.
test: all build/asan/.configured
	cmake --build --preset asan
	@.ci/estimate build/release build/asan
	$(CTEST) --test-dir build/release -L 'unit|data'
	$(CTEST) --test-dir build/asan -L 'unit|data'

# Everything, before an issue is resolved.
test-all: format-check setup-check test whole test-python clang tsan valgrind aarch64 fuzz soak golden bench-quick browser analysis api site

# All random cases under ASan and UBSan, of which `test` runs a tenth. The scripts have none.
whole: build/asan/.configured
	cmake --build --preset asan
	RIGOR_TEST_WHOLE=1 $(CTEST) --test-dir build/asan -L unit -LE script

# The Python package, in the active virtual or conda environment, or else in build/python.
python: all
	python/install build/release

# Its tests, also with the library under ASan+UBSan. Skipped without numpy and cffi.
test-python: all build/asan/.configured
	cmake --build --preset asan --target librigor.so
	$(CTEST) --test-dir build/release -L python
	$(CTEST) --test-dir build/asan -L python

# A wheel in build/wheel with everything that the library and the program need but libc, and its test in a bare
# environment (network: PyPI). sdist: the source distribution, for pip install .
wheel: all
	python/wheel build/release build/wheel
test-wheel: wheel
	test/python/wheel $(CURDIR)/build/wheel/rigor-*.whl
# The same for aarch64, by the cross compiler, tried in a bare Python under qemu (./setup aarch64 and python).
wheel-aarch64:
	.ci/aarch64
	cmake --preset aarch64
	cmake --build --preset aarch64 --target librigor.so rigor_cli
	python/wheel build/aarch64 build/wheel-aarch64 build/aarch64/sysroot
	test/python/wheel-aarch64 $(CURDIR)/build/wheel-aarch64/rigor-*.whl $(CURDIR)/build/aarch64/python
sdist: all
	mkdir -p build/sdist
	cd python && /usr/bin/python3 -c 'import backend; print(backend.build_sdist("../build/sdist"))'

# Cross-compiled for aarch64, and its unit tests under qemu (./setup aarch64; network: Debian's packages). Without the
# scripts, which start programs of this machine, and with a tenth of the random cases; those that take longest are left
# out as under valgrind.
aarch64:
	.ci/aarch64
	cmake --preset aarch64
	cmake --build --preset aarch64
	RIGOR_TEST_LIGHT=1 $(CTEST) --test-dir build/aarch64 -L unit -LE script -E "$(TOO_LONG)|^contact\\.(degenerate|interior)$$"

clang: build/clang/.configured
	cmake --build --preset clang
	$(CTEST) --test-dir build/clang -L unit

tsan: build/tsan/.configured
	cmake --build --preset tsan
	$(CTEST) --test-dir build/tsan -L unit

# Memory that is read before it is written, which the sanitizers do not see. Without the scripts (valgrind
# would watch Python), without the longest, without null_calls (its processes leave their objects behind),
# and with a tenth of the random cases.
TOO_LONG = ^(math\.kernels|package\.null_calls|contact\.(solvers|forms)|collision\.(distance|ray)|scene\.scene|$\
	world\.(anchor|cards|stacks|impact|inverse|joints|robots))$$
valgrind: all
	RIGOR_TEST_LIGHT=1 $(CTEST) --test-dir build/release -L unit -LE script -E '$(TOO_LONG)' -T memcheck \
		--overwrite MemoryCheckCommandOptions="-q --error-exitcode=99 --leak-check=full \
		--errors-for-leak-kinds=definite --show-leak-kinds=definite"

# Each program of test/fuzz for TIME seconds, from the files of test/io, models and test/fuzz/corpus.
TIME ?= 30
fuzz: build/fuzz/.configured
	cmake --build --preset fuzz
	FUZZ_SECONDS=$(TIME) $(CTEST) --test-dir build/fuzz -L fuzz
	@cat build/fuzz/test/fuzz/*/figures

# A mutator of our own on the same programs under ASan and UBSan, COUNT inputs for each.
COUNT ?= 10000
attack: build/asan/.configured
	cmake --build --preset asan --target attack
	ATTACK_COUNT=$(COUNT) $(CTEST) --test-dir build/asan -L attack
	@cat build/asan/test/fuzz/attack/*/figures

# A hundred small faults at random places of src, one at a time: at least 85 of 100 are found by the unit tests of
# the fault's folder. Takes hours, goes on where it was stopped; test/mutants/run.py --help.
SEED ?= 1
mutants:
	python3 -B test/mutants/run.py --seed $(SEED)

# A pile falls again and again under ASan: the same bits each time, no growth; and anything at random.
soak: build/asan/.configured
	cmake --build --preset asan --target scene_soak_pile scene_soak_random
	$(CTEST) --test-dir build/asan -L soak

# Bits: any number of threads, saved states, and the hashes that are known for this kernel set.
.PHONY: golden golden-write coverage
golden: all
	$(CTEST) --test-dir build/release -L golden -V
golden-write: all
	build/release/test/scene_golden test/scene/golden.txt --write

# Lines and branches of src that the unit and data tests meet, by gcov: build/coverage/summary.txt.
coverage: build/coverage/.configured
	cmake --build --preset coverage
	find build/coverage -name '*.gcda' -delete
	-$(CTEST) --test-dir build/coverage -L 'unit|data' -LE script
	.ci/coverage build/coverage

# Every experiment of docs/benchmarks.md, beside the engines that are installed (./setup bench), at most 20
# minutes on two idle cores: build/bench/report/index.html with JSON and CSV beside it. `rigor bench list`
# names them, and NAMES="convergence fclib" makes only these.
# Scenes are those below RIGOR_DATA, or else those that ./setup data made.
bench bench-full bench-quick: export RIGOR_DATA := $(abspath $(if $(wildcard $(RIGOR_DATA)),$(RIGOR_DATA),data))
bench: reconfigured
	build/release/rigor bench report $(NAMES)
bench-full: reconfigured
	build/release/rigor bench report --full $(NAMES)
reconfigured: # the report names the commit of the last configure run
	cmake --preset release >/dev/null
	cmake --build --preset release

# Keep the last report's numbers and conclusions in the repository, and let the pages quote them:
# make bench bench-keep MACHINE=epyc-2core. With NAMES="tongs answers" it keeps these alone; bench/keep.py --rows adds
# an engine to kept tables.
bench-keep:
	@test -n "$(MACHINE)" || { echo "make bench-keep MACHINE=..., the name of a folder in bench/results" >&2; exit 2; }
	python3 -B bench/keep.py build/bench/report bench/results/$(MACHINE)/report $(NAMES)
	python3 -B bench/quote.py --from $(MACHINE) $(QUOTING)
bench-quotes:
	python3 -B bench/quote.py $(QUOTING)

# Every benchmark once: that it runs, not how fast.
bench-quick: all
	OPENBLAS_NUM_THREADS=1 .ci/bench-quick build/release

# The viewer in Chromium, where there is one, and the logic of its page.
browser: all
	$(CTEST) --test-dir build/release -L browser

analysis: tidy cppcheck analyzer

# With clang's own options: gcc has some that it does not know.
tidy: build/clang/.configured
	cmake --build --preset clang --target rigor
	git ls-files 'src/*.c' 'cli/*.c' | grep -v '_\(avx512\|neon\)\.c$$' | \
		xargs -P2 -n8 clang-tidy --quiet -p build/clang

cppcheck: build/release/.configured
	cppcheck --quiet --error-exitcode=1 -j2 --std=c11 --platform=unix64 --inline-suppr \
		--enable=warning,performance,portability --suppressions-list=.ci/cppcheck.txt \
		-Iinclude -Isrc -D_POSIX_C_SOURCE=200809L src cli

analyzer: build/release/.configured all
	.ci/analyzer build/release

# What a newcomer's first command does, without a clean machine at hand.
setup-check:
	.ci/check-setup

# Known advisories of what is linked and bundled (network: the npm registry, the lists of apt).
audit: all
	.ci/audit $(CURDIR)/build/release

# librigor.dll by mingw-w64, and programs with it under wine (./setup windows; network: Debian's sources, PyPI).
windows:
	.ci/windows

# What a compiler for macOS accepts; nothing is linked (network: PyPI).
macos:
	.ci/macos

# build/rigor-VERSION.tar.gz, of what is committed, with the viewer's page made: it needs no npm.
VERSION = $(shell sed -n 's/^project.rigor VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
dist: all
	.ci/dist $(VERSION)

# build/deb/rigor_VERSION_ARCHITECTURE.deb: apt install ./build/deb/rigor_*.deb
deb: build/deb/.configured
	cmake --build --preset deb
	cd build/deb && cpack -G DEB

# The C interface as pages, build/api/html/index.html.
api:
	mkdir -p build/api
	(cat docs/Doxyfile; echo "PROJECT_NUMBER = $(VERSION)") | doxygen -

# Pictures and films of the documentation and the page that has them all (Chromium, matplotlib's Pillow).
gallery: build/release/.configured
	cmake --build --preset release --target rigor_cli
	/usr/bin/python3 -B docs/gallery.py build/release/rigor

# The documentation as a site without a network, build/site/html/index.html (./setup docs). Its links are checked.
site: build/release/.configured
	cmake --build --preset release --target rigor_cli
	/usr/bin/python3 -B docs/site/make.py build/release/rigor build/site $(VERSION)
	/usr/bin/python3 -B docs/site/check.py build/site/html
	/usr/bin/python3 -B docs/site/clicks.py build/site/html

# The two commands of the README on a bare Debian in a folder (root, debootstrap, network).
clean-machine:
	.ci/clean-machine

# make install PREFIX=... (/usr/local); make uninstall removes what the last one installed.
install: all
	cmake --install build/release $(if $(PREFIX),--prefix $(abspath $(PREFIX)))
	@cp build/release/install_manifest.txt build/release/installed.txt
uninstall:
	cmake -DMANIFEST=$(CURDIR)/build/release/installed.txt $(if $(PREFIX),-DPREFIX=$(abspath $(PREFIX))) \
		-P cmake/uninstall.cmake

format:
	clang-format -i $(SOURCES)
format-check:
	clang-format --dry-run --Werror $(SOURCES)

clean:
	rm -rf build
