# The commands a person types. The build itself is in CMakeLists.txt and CMakePresets.json.
RIGOR_DATA ?= ../shared/data
export RIGOR_DATA := $(abspath $(RIGOR_DATA))
CTEST = ctest --output-on-failure --no-tests=error -j2

.PHONY: all demo test test-all tsan valgrind clang install format format-check clean

all: build/release/.configured
	cmake --build --preset release

build/%/.configured: CMakeLists.txt CMakePresets.json
	cmake --preset $*
	@touch $@

# Run the main job on a built-in scene.
demo: all
	build/release/rigor demo

# One release build and one ASan+UBSan build, unit and data tests.
test: all build/asan/.configured
	cmake --build --preset asan
	$(CTEST) --test-dir build/release -L 'unit|data'
	$(CTEST) --test-dir build/asan -L 'unit|data'

# Everything, before an issue is resolved.
test-all: test tsan valgrind clang format-check

tsan: build/tsan/.configured
	cmake --build --preset tsan
	$(CTEST) --test-dir build/tsan -L unit

valgrind: build/dev/.configured
	cmake --build --preset dev
	$(CTEST) --test-dir build/dev -L unit -T memcheck --overwrite MemoryCheckCommandOptions="--error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite -q"

clang: build/clang/.configured
	cmake --build --preset clang
	$(CTEST) --test-dir build/clang -L unit

install: all
	cmake --install build/release

SOURCES = $(shell git ls-files '*.c' '*.h')
format:
	clang-format -i $(SOURCES)
format-check:
	clang-format --dry-run --Werror $(SOURCES)

clean:
	rm -rf build
