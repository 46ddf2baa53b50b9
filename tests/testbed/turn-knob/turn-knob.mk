# turn-knob: one knob of one device, there and back, for the guests of tests/vm.

TURN_KNOB := $(B)/tests/testbed/turn-knob

$(TURN_KNOB): tests/testbed/turn-knob/turn-knob.c $(foreach r,knob device model base,$(B)/lib$(r).a)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

vm-tools: $(TURN_KNOB)
