# Unit tests: tests/unit/test-ROOM[-WHAT].c links the rooms that ROOM may see (SEES_ROOM, in the Makefile),
# and what ALSO_ROOM or ALSO_ROOM-WHAT names: whatever a test needs to stand for the hardware.

ALSO_control := testbed sim
ALSO_stack := hw
ALSO_knob-loop := hw
ALSO_knob-nvme := hw
ALSO_redirect-simulated := sim
ALSO_redirect-simulated-cache := sim
ALSO_redirect-bcache := hw
ALSO_redirect-md := hw
ALSO_redirect-nodes := hw
ALSO_redirect-nvmet := hw

TEST_LIBS := -lcmocka
EXTRA_LIBS_plan := -lglpk
$(B)/tests/unit/test-redirect-nvmet: LDFLAGS += -Wl,--wrap=write_attribute
$(B)/tests/unit/test-control-alarm: LDFLAGS += -Wl,--wrap=meter_process
$(B)/tests/unit/test-base-log: LDFLAGS += -Wl,--wrap=sd_journal_sendv_with_location
$(B)/tests/unit/test-meter-waiting: LDFLAGS += -Wl,--wrap=meter_bpf_sees_waits
$(B)/tests/unit/test-signal-calendar: LDFLAGS += -Wl,--wrap=read -Wl,--wrap=timerfd_settime

# A manager on a simulated node on virtual time.
$(B)/libtestbed.a: $(call obj,$(wildcard tests/testbed/*.c))
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^
$(B)/tests/%.o: ALL_CFLAGS += -Itests/testbed

UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test-*.c))
room-of = $(firstword $(subst -, ,$(1)))
rooms-of = $(call with,$(room-of),$(ALSO_$(room-of)) $(ALSO_$(1)))

.SECONDEXPANSION:
$(B)/tests/unit/test-%: $(B)/tests/unit/test-%.o $$(call libs,$$(call rooms-of,$$*))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(TEST_LIBS) $(EXTRA_LIBS_$(call room-of,$*))

# Linked whole with what it may see, a room has no undefined symbol: a program takes only the objects it
# needs, and proves nothing of the others.
$(B)/tests/layers/%: $$(call libs,$$(SEES_$$*))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)echo 'int main(void) { return 0; }' | $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ -x c - -x none \
		-Wl,--whole-archive $< -Wl,--no-whole-archive $(filter-out $<,$^) $(LIBS)

# What the tests of reports read: a ledger of a made-up day.
$(B)/tests/reports/%: $(B)/tests/reports/%.o $(call libs,$(SEES_ledger))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
REPORT_TOOLS := $(patsubst tests/reports/%.c,$(B)/tests/reports/%,$(wildcard tests/reports/*.c))

unit-tests: $(UNIT_TESTS) $(REPORT_TOOLS) $(ROOMS:%=$(B)/tests/layers/%)

.PHONY: unit-tests
include tests/fuzz/fuzz.mk
include tests/bench/bench.mk
