# disk-ask: the daemon's SATA and SAS disks and their knobs by hand, for the guests of tests/vm.

DISK_ASK := $(B)/tests/testbed/disk-ask

$(B)/tests/testbed/disk-ask.o/disk-ask.o: tests/testbed/disk-ask/disk-ask.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(DISK_ASK): $(B)/tests/testbed/disk-ask.o/disk-ask.o $(foreach r,knob device model base,$(B)/lib$(r).a)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

vm-tools: $(DISK_ASK)
