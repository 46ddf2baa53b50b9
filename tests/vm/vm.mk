# Guests in QEMU: real kernels. tests/vm/boot runs one script in one.

include $(wildcard tests/testbed/*/*.mk)

# the programs that only guests use, and what a guest's root gets by `make install`
vm-tools:
	@rm -rf $(B)/vm-root
	@$(MAKE) --no-print-directory -s install DESTDIR=$(B)/vm-root

# the kernels and the root image, kept outside of the tree
vm-image:
	@packaging/deps --vm
	@tests/vm/prepare

check-vm: vm-image
	@$(SUB) all vm-tools
	@B=$(B) tests/run vm

.PHONY: vm-tools vm-image check-vm
