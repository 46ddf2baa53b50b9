# meter-ask: the daemon's meter by hand, for the guests of tests/vm.

METER_ASK := $(B)/tests/testbed/meter-ask

$(B)/tests/testbed/meter-ask.o/meter-ask.o: tests/testbed/meter-ask/meter-ask.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(METER_ASK): $(B)/tests/testbed/meter-ask.o/meter-ask.o $(foreach r,meter device model base,$(B)/lib$(r).a)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

vm-tools: $(METER_ASK)
