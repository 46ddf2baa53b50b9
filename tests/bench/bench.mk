# Benchmarks: tests/bench/bench-NAME.c links the rooms that NAME may see; bench-NAME.sh starts the
# daemon itself. tests/bench/run runs them all.

BENCH_SEES_planner := $(SEES_plan)
BENCH_SEES_petri := $(SEES_petri)
BENCH_SEES_ledger := $(SEES_ledger)
BENCH_SEES_node := $(call with,control,testbed sim)
BENCH_SEES_sleep := $(BENCH_SEES_node)
BENCH_SEES_meter := $(SEES_meter)
BENCH_SEES_latency := base
BENCH_SEES_questions := base
BENCH_SEES_claims := base
BENCH_SEES_storm := base

# what a benchmark is made of besides bench-NAME.c
BENCH_WITH_node := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/node-*.c))

BENCHES := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/bench-*.c))

$(B)/tests/bench/bench-%: $(B)/tests/bench/bench-%.o $$(BENCH_WITH_$$*) $$(call libs,$$(BENCH_SEES_$$*))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

bench-run: all $(BENCHES)
	@B=$(B) tests/bench/run

# the README's picture of a run
plot: all
	@B=$(B) tests/bench/plot-budget.sh packaging/budget.svg
.PHONY: bench-run plot
