# The suites and the checks of the code itself. Each of them installs nothing: `make deps` does.

# as many jobs as there are processors, unless make was told
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
SUB = $(MAKE) --no-print-directory $(JOBS)

deps:
	@packaging/deps --dev

# random cases (tests/unit/cases.h), of 20000
CASES_OF_CHECK ?= 8000

# pkg-config is asked when make starts: what was just installed needs a make of its own.
check: deps
	@$(SUB) all unit-tests
	@B=$(B) STORPOWER_CASES=$(CASES_OF_CHECK) tests/run

# What the others leave out because it is slow and rarely wrong: guests and tests under valgrind by
# tests/run's word; and so many random nodes, claims, bursts and events (tests/unit/cases.h).
CASES ?= 200000
CASES_OF := test-@(control-bursts|control-properties|plan-random|plan-oracle|pure-enforce)
check-long: deps vm-image check-reproducible valgrind
	@$(SUB) all unit-tests vm-tools $(B)/deb/made $(B)/deb-trixie/made
	@B=$(B) LIMIT=14400 STORPOWER_CASES=$(CASES) ONLY='$(CASES_OF)' tests/run unit
	@B=$(B) LIMIT=14400 KILLS=1000 ONLY='test-ledger*' tests/run bus
	@B=$(B) LONG=yes tests/run bus vm
	@$(RUN_IN_VALGRIND) LIMIT=14400 LONG=yes tests/run unit
	@$(BUILD_SANITIZED)
	@$(RUN_SANITIZED) LIMIT=14400 LONG=yes tests/run unit

# Statistics over code that other tests run, too.
SANITIZE_LATER := test-plan-oracle test-model-design test-control-drift test-control-margins test-control-ledger \
	test-control-hour
BUILD_SANITIZED = $(SUB) B=build/sanitize CFLAGS="-O1 -g" SANITIZE="$(SANITIZERS)" all unit-tests
RUN_SANITIZED = B=build/sanitize STORPOWER_CASES=2000 LATER="$(SANITIZE_LATER)"
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# The captures of terminals depend on the time that things take, and run nothing that test-ctl does not; drift
# is a matter of minutes and is shown by unit tests.
sanitize: deps
	@$(BUILD_SANITIZED)
	@$(RUN_SANITIZED) LIMIT=900 ONLY='test-!(golden*|drift*)' tests/run

# Where threads meet: the loop with its workers, and the daemon on its bus.
sanitize-threads: deps
	@$(SUB) B=build/threads CFLAGS="-O1 -g" SANITIZE="-fsanitize=thread" all \
		build/threads/tests/unit/test-control-loop build/threads/tests/reports/fill-ledger
	@B=build/threads LIMIT=900 TSAN_OPTIONS="halt_on_error=1 exitcode=66" ONLY=test-control-loop tests/run unit
	@B=build/threads LIMIT=900 TSAN_OPTIONS="halt_on_error=1 exitcode=66" ONLY='test-[!gl]*' tests/run bus

VALGRIND_LEAVES_OUT := test-*bpf*=valgrind does not know all of bpf(2);\
test-base-spawn=its posix_spawn() cannot tell that a program is not there, runs under the sanitizers
# Simulated hours that take real ones, or minutes, and nets of many states; the sanitizers see them all.
VALGRIND_LATER := $(addprefix test-,ctl-calibrate ledger model-design model-hybrid model-predict model-response petri-study \
	petri-time plan-glpk plan-oracle plan-pools plan-random $(addprefix control-,advise begin bursts crash disobey drift hangs \
	hour ledger margins percent pools properties redirect served tolerance wear wrong-profile))
VALGRIND_WRAP := valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect
# Memory that valgrind sees the kernel write through bpf(2) looks unset to it.
RUN_IN_VALGRIND = B=$(B) STORPOWER_CASES=500 LEAVE_OUT="$(VALGRIND_LEAVES_OUT)" LATER="$(VALGRIND_LATER)" \
	WRAP="$(VALGRIND_WRAP)"

valgrind: deps
	@$(SUB) all unit-tests
	@$(RUN_IN_VALGRIND) LIMIT=900 tests/run unit

# Threads and killed children make a counter negative now and then, which gcovr takes for an error.
coverage: deps
	@$(SUB) B=build/coverage CFLAGS="-O0 -g --coverage" LDFLAGS=--coverage all unit-tests
	@find build/coverage -name '*.gcda' -delete
	@B=build/coverage LIMIT=900 STORPOWER_CASES=5000 tests/run
	@gcovr --root . --filter daemon/ --gcov-ignore-parse-errors --print-summary build/coverage

TIDY_SRC = $(sort $(shell find daemon -name '*.c'))
tidy: deps
	@$(SUB) tidy-all
# through the environment, because the flags have quotes of their own
tidy-all: export TIDY_FLAGS = $(filter-out -Werror,$(ALL_CFLAGS))
tidy-all: $(BPF_SKELS)
	@printf '%s\n' $(TIDY_SRC) | xargs -P $(shell nproc) -n 4 sh -c \
	'eval "clang-tidy --quiet $$* -- $$TIDY_FLAGS" 2>$(B)/tidy.$$$$.err || { cat $(B)/tidy.$$$$.err; exit 1; }' tidy

# What is told to others, read by their own programs: a browser, Prometheus.
check-reports:
	@packaging/deps --reports
	@$(SUB) all $(REPORT_TOOLS)
	@B=$(B) tests/run reports

# Signals with a real other end that takes minutes to build, once.
check-signals:
	@packaging/deps --signals
	@tests/signals/build-vtn
	@$(SUB) all
	@B=$(B) tests/run signals

lint: deps
	@$(SUB) all $(UNITS)
	@B=$(B) tests/lint.sh

.PHONY: deps check check-long check-reports check-signals sanitize sanitize-threads valgrind coverage tidy tidy-all lint
