# Fuzzing with libFuzzer: build/fuzz/fuzz-NAME, each with the rooms its subject may see, all built
# with the sanitizers; `make fuzz-short` runs each for a moment on a corpus of the shipped files.
#
# What goes in	What must hold
# claims	Saved and read again they are the same. Unless damage is said, no claim is lost. A flipped bit
#		is said, and leaves only claims that there were.
# journal	It opens, works and reads again the same. Unless it is set aside, no original is lost. A
#		flipped bit sets it aside.
# wear		The same for its accounts, and none leaves its bucket.
# wake		The same for its adapters.
# records	What is read of any such file reads again the same; a flipped bit is noticed.
# config	fuzz-ini.h: what is read is reported as it was written, else the default; the report reads as
#		itself; what is complained of has had no effect; a line that means nothing is named by its
#		number, wherever it stands: an unknown key or section, a second one, junk behind a heading or a
#		value, nan, inf, a negative number, bytes that are no text, a line too long.
# policy	The same.
# profile	The same, and a complaint refuses it.
# node		The same as a profile; and what opens starts and can be asked.
# limit		What people type: a number that is taken is finite and within its range.
# openadr	Events: what is complained of is left out, limits stay within their ranges, the bus takes what is said
#		of them, and nothing changes but when it was said that it would.
# enforce	pure-node.h: events in any order keep the promises of decide() and admit().

FUZZ_SECONDS ?= 10
FUZZ_SEES_limit := base
FUZZ_SEES_records := base
FUZZ_SEES_claims := $(SEES_budget)
FUZZ_SEES_wear := $(SEES_journal)
FUZZ_SEES_wake := $(SEES_device)
FUZZ_SEES_journal := $(SEES_journal)
FUZZ_SEES_config := $(SEES_config)
FUZZ_SEES_profile := $(SEES_model)
FUZZ_SEES_policy := $(SEES_plan)
FUZZ_SEES_node := $(SEES_sim)
FUZZ_SEES_openadr := $(SEES_signal)
FUZZ_SEES_enforce := $(SEES_pure)

FUZZ_SEEDS_limit := $(wildcard tests/fuzz/seeds/limit/*)
FUZZ_SEEDS_records := $(wildcard tests/fuzz/seeds/records/*)
FUZZ_SEEDS_claims := $(wildcard tests/fuzz/seeds/claims/*)
FUZZ_SEEDS_wear := $(wildcard tests/fuzz/seeds/wear/*)
FUZZ_SEEDS_wake := $(wildcard tests/fuzz/seeds/wake/*)
FUZZ_SEEDS_journal := $(wildcard tests/fuzz/seeds/journal/*)
FUZZ_SEEDS_config := packaging/storpower.conf $(wildcard tests/fuzz/seeds/config/*)
FUZZ_SEEDS_profile := $(wildcard policies/profiles/*.profile tests/fuzz/seeds/profile/*)
FUZZ_SEEDS_policy := $(wildcard policies/*.policy tests/fuzz/seeds/policy/*)
FUZZ_SEEDS_node := $(wildcard policies/nodes/*.node tests/fuzz/seeds/node/*)
FUZZ_SEEDS_openadr := $(wildcard tests/fuzz/seeds/openadr/*)
FUZZ_SEEDS_enforce := $(wildcard policies/profiles/seagate-*.profile)

# each two bytes are an event, and a plan: many short lives find more than a few long ones
FUZZ_FLAGS_enforce := -max_len=128

# what they say is heard, not seen: see fuzz-ini.h
FUZZ_HEARD := config policy profile node

FUZZ := $(B)/fuzz
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz-%.c,%,$(wildcard tests/fuzz/fuzz-*.c))
FUZZ_SANITIZE := -fno-sanitize-recover=all -fsanitize=address,undefined

# The rooms again, by this same Makefile, instrumented: what is out of date is for it to find out.
FUZZ_PARTS := $(patsubst %,$(FUZZ)/lib%.a,$(filter $(foreach n,$(FUZZ_NAMES),$(FUZZ_SEES_$(n))),pure signal $(ROOMS)))

$(FUZZ)/fuzz-%: tests/fuzz/fuzz-%.c $(wildcard tests/fuzz/*.h) fuzz-rooms
	$(call say,LD)
	$(Q)$(CLANG) $(ALL_CFLAGS) -Itests/fuzz $(FUZZ_SANITIZE) -fsanitize=fuzzer -o $@ $< \
		$(if $(filter $*,$(FUZZ_HEARD)),-Xlinker --wrap=log_full) \
		$(FUZZ_SEES_$*:%=$(FUZZ)/lib%.a) $(LIBS)

fuzz-rooms:
	$(MAKE) B=$(FUZZ) CC=$(CLANG) SANITIZE="$(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link" $(FUZZ_PARTS)

# New inputs stay in build/; only what is worth keeping goes to tests/fuzz/seeds by hand.
fuzz-run-%: $(FUZZ)/fuzz-%
	@mkdir -p $(FUZZ)/corpus-$*
	cp $(FUZZ_SEEDS_$*) $(FUZZ)/corpus-$*
	$< -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix=$(FUZZ)/$*- -verbosity=0 $(FUZZ_FLAGS_$*) $(FUZZ)/corpus-$*

fuzz: $(FUZZ_NAMES:%=$(FUZZ)/fuzz-%)
fuzz-short: $(FUZZ_NAMES:%=fuzz-run-%)
.PHONY: fuzz fuzz-rooms fuzz-short
