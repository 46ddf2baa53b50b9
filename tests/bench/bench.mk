# Benchmarks: tests/bench/bench-NAME.c links the rooms that NAME may see; bench-NAME.sh starts the
# daemon itself. tests/bench/run runs them all.

BENCH_SEES_planner := plan model base
BENCH_SEES_node := $(SEES_manager)
BENCH_SEES_sleep := $(SEES_manager)
BENCH_SEES_meter := meter device model base
BENCH_SEES_latency := base

BENCHES := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/bench-*.c))

$(B)/tests/bench/bench-%: $(B)/tests/bench/bench-%.o $$(foreach r,$$(BENCH_SEES_$$*),$(B)/lib$$(r).a)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

bench-run: all $(BENCHES)
	@B=$(B) tests/bench/run
.PHONY: bench-run
