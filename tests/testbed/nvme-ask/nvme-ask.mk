# nvme-ask: the daemon's NVMe device and knobs by hand, for the guests of tests/vm.

NVME_ASK := $(B)/tests/testbed/nvme-ask

$(B)/tests/testbed/nvme-ask.o/nvme-ask.o: tests/testbed/nvme-ask/nvme-ask.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(NVME_ASK): $(B)/tests/testbed/nvme-ask.o/nvme-ask.o $(foreach r,knob device model base,$(B)/lib$(r).a)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

vm-tools: $(NVME_ASK)
