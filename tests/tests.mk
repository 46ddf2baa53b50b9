# Unit tests: tests/unit/test-ROOM[-WHAT].c links the rooms that ROOM may see and nothing else.

SEES_base := base
SEES_model := model base
SEES_plan := plan model base
SEES_budget := budget base
SEES_device := device model base
SEES_knob := knob device model base
SEES_meter := meter device model base
SEES_config := meter base
SEES_manager := manager testbed plan budget knob meter device model base

TEST_LIBS := -lcmocka
EXTRA_LIBS_plan := -lglpk
EXTRA_LIBS_config = $(CONFIG_OBJ) $(B)/libmeter.a $(B)/libbase.a $(LIBS)

# A manager on a simulated node on virtual time.
$(B)/libtestbed.a: $(call obj,$(wildcard tests/testbed/*.c))
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^
$(B)/tests/%.o: ALL_CFLAGS += -Itests/testbed

UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test-*.c))
room-of = $(word 2,$(subst -, ,$(notdir $(1))))

.SECONDEXPANSION:
$(B)/tests/unit/test-%: $(B)/tests/unit/test-%.o $$(foreach r,$$(SEES_$$(call room-of,test-$$*)),$(B)/lib$$(r).a)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) $(TEST_LIBS) $(EXTRA_LIBS_$(call room-of,$(@F)))

CONFIG_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard daemon/config*.c))
$(B)/tests/unit/test-config: $(CONFIG_OBJ)

unit-tests: $(UNIT_TESTS)
.PHONY: unit-tests
include tests/fuzz/fuzz.mk
include tests/bench/bench.mk
