# Guests in QEMU: real kernels. tests/vm/boot runs one script in one.

# A program for guests is a folder of tests/testbed, linked with the rooms named here, the highest first.
# It has the name of the folder of its objects, which therefore lie in another one.
define GUEST_PROGRAM
$(B)/tests/testbed/$(1).o/%.o: tests/testbed/$(1)/%.c
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -MMD -MP -c -o $$@ $$<

$(B)/tests/testbed/$(1): $(patsubst tests/testbed/$(1)/%.c,$(B)/tests/testbed/$(1).o/%.o,$(wildcard tests/testbed/$(1)/*.c)) $(call libs,$(2))
	$$(call say,LD)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)

vm-tools: $(B)/tests/testbed/$(1)
endef
# simulated drives, and the daemon's own rooms by hand
$(eval $(call GUEST_PROGRAM,nvmesim,base))
$(eval $(call GUEST_PROGRAM,hddsim,base))
$(eval $(call GUEST_PROGRAM,nvme-ask,$(call with,redirect,hw)))
$(eval $(call GUEST_PROGRAM,disk-ask,$(call with,redirect,hw)))
$(eval $(call GUEST_PROGRAM,turn-knob,$(call with,redirect,hw)))
$(eval $(call GUEST_PROGRAM,meter-ask,$(call with,meter,hw)))

vm-tools: $(B)/tests/bench/bench-latency

# the programs that only guests use, and what a guest's root gets by `make install`
vm-tools:
	@rm -rf $(B)/vm-root
	@$(MAKE) --no-print-directory -s install DESTDIR=$(B)/vm-root

# the kernels and the root image, kept outside of the tree
vm-image:
	@packaging/deps --vm
	@tests/vm/prepare

# The package as another release of Debian builds it.
$(B)/deb-%/made: $(ARCHIVE)
	$(Q)tests/vm/make-deb $* $< $(@D)
	@touch $@

check-vm: vm-image
	@$(SUB) all vm-tools
	@B=$(B) tests/run vm

.PHONY: vm-tools vm-image check-vm
