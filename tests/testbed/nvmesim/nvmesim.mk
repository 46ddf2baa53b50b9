# nvmesim: an NVMe/TCP controller in user space, for the guests of tests/vm.

NVMESIM := $(B)/tests/testbed/nvmesim

# the program has the name of the folder of its objects, which therefore lie in another one
NVMESIM_OBJ := $(patsubst tests/testbed/nvmesim/%.c,$(B)/tests/testbed/nvmesim.o/%.o,$(wildcard tests/testbed/nvmesim/*.c))

$(B)/tests/testbed/nvmesim.o/%.o: tests/testbed/nvmesim/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(NVMESIM): $(NVMESIM_OBJ) $(B)/libbase.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

vm-tools: $(NVMESIM)
