# hddsim: a SATA or SAS hard disk behind TCM user, for the guests of tests/vm.

HDDSIM := $(B)/tests/testbed/hddsim

# the program has the name of the folder of its objects, which therefore lie in another one
HDDSIM_OBJ := $(patsubst tests/testbed/hddsim/%.c,$(B)/tests/testbed/hddsim.o/%.o,$(wildcard tests/testbed/hddsim/*.c))

$(B)/tests/testbed/hddsim.o/%.o: tests/testbed/hddsim/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(HDDSIM): $(HDDSIM_OBJ) $(B)/libbase.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

vm-tools: $(HDDSIM)
