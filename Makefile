# storpower: make only.
#
#   make              build/storpowerd, build/storpowerctl, build/storpower-signal-*,
#                     build/storpower-hooks
#   make check        install what the build and the tests need, run every suite
#   make check-vm     real devices on Debian's kernels in QEMU
#   make check-reports  metrics and reports, read by Prometheus and a browser
#   make check-signals  OpenADR with a real VTN, which is built once and kept outside of the tree
#   make check-long   what these two leave out as slow and rarely wrong, and the random cases in great number
#   make sanitize     the same under AddressSanitizer and UBSan; make sanitize-threads: what has threads,
#                     under ThreadSanitizer; make valgrind: the unit tests
#   make lint tidy    scripts, man pages, XML, layers, layout; clang-tidy. make coverage: lines run
#   make demo         a minute's show on this machine
#   make bench plot   the benchmarks, table and build/bench.json; the picture in the README
#   make deb rpm      packages, in build/deb and build/rpm; make check-packages: builds the Debian one, and
#                     lets lintian and rpmlint look at both
#   make install      into DESTDIR, PREFIX; make uninstall: stops the daemon, which gives everything back, first

VERSION := 0.1.0
PREFIX ?= /usr
SYSCONFDIR ?= /etc
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system
# journalctl looks nowhere else
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
DBUSDIR ?= $(PREFIX)/share/dbus-1
POLKITDIR ?= $(PREFIX)/share/polkit-1/actions
DATADIR ?= $(PREFIX)/share/storpower
# where a distribution may put its own storpower.conf; nothing is installed there
VENDORDIR ?= $(PREFIX)/lib/storpower
# there while systemd is process 1
SYSTEMD_RUNS ?= /run/systemd/system

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool) bpftool)
CFLAGS ?= -O2 -g
WERROR ?= -Werror
SANITIZE ?=
B ?= build
# make V=1 shows the commands
Q := $(if $(V),,@)
say = @$(if $(V),:,echo "  $(1)	$@")

PKGS := libsystemd libudev mount blkid libbpf inih json-c libnvme sqlite3
SIGNAL_PKGS := libcurl libmosquitto
HAVE_PKGS := $(shell pkg-config --exists $(PKGS) $(SIGNAL_PKGS) 2>/dev/null && test -e /usr/include/scsi/sg_pt.h && echo yes)
ALL_CFLAGS = -std=gnu17 -Wall -Wextra $(WERROR) -Wno-missing-field-initializers -fno-strict-aliasing \
	-D_GNU_SOURCE -DSTORPOWER_VERSION='"$(VERSION)"' -DSTORPOWER_DATADIR='"$(DATADIR)"' \
	-DSTORPOWER_VENDORDIR='"$(VENDORDIR)"' \
	-Idaemon -Ibpf -I$(B)/gen $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)
LIBS = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lsgutils2 -lm -lpthread

# A room of the house is a folder of daemon/ and becomes a library of its own. FLOORS names the rooms from
# the lowest up: a room may see those below it, but for those in HIDES_ROOM. Only storpowerd.c and
# the files beside it know that devices are real or simulated.
FLOORS := base petri model plan budget config loop device stack hw sim journal knob redirect meter sensor ledger control bus
HIDES_budget := plan
HIDES_sim := hw
HIDES_journal := hw sim
HIDES_knob := hw sim plan budget
HIDES_redirect := $(HIDES_knob)
HIDES_meter := $(HIDES_knob)
HIDES_sensor := hw sim
# storpowerctl reads it, too
HIDES_ledger := petri model plan budget config loop device stack hw sim journal knob redirect meter sensor
HIDES_control := hw sim
HIDES_bus := hw sim
# SEES_ROOM: itself and what it may see, in the order in which they are linked, the highest first
ROOMS :=
$(foreach r,$(FLOORS),$(eval SEES_$(r) := $(r) $(filter-out $(HIDES_$(r)),$(ROOMS)))$(eval ROOMS := $(r) $(ROOMS)))
SEES_ctl := ctl ledger model petri base
# the programs that hold limits for others speak to the daemon on D-Bus alone; of the ledger they know how a
# file of carbon intensity is read
SEES_signal := signal ledger base
# the program that runs the operator's hooks is told by the daemon what it must know
SEES_hooks := hooks base
# what decides, without the room around it
SEES_pure := pure $(SEES_plan)

room-src = $(wildcard daemon/$(1)/*.c)
obj = $(patsubst %.c,$(B)/%.o,$(1))
# the rooms that a room may see, and others: $(call with,ROOM,OTHERS)
with = $(filter $(SEES_$(1)) $(2),testbed pure ctl signal hooks $(ROOMS))
libs = $(foreach r,$(1),$(B)/lib$(r).a)
BPF_SKELS := $(patsubst bpf/%.bpf.c,$(B)/gen/%.skel.h,$(wildcard bpf/*.bpf.c))

SIGNALS := $(patsubst daemon/signal/%.c,%,$(wildcard daemon/signal/storpower-signal-*.c))

all: $(B)/storpowerd $(B)/storpowerctl $(SIGNALS:%=$(B)/%) $(B)/storpower-hooks

$(B)/%.o: %.c
	$(if $(HAVE_PKGS),,$(error libraries are missing ($(PKGS) $(SIGNAL_PKGS) libsgutils2): run packaging/deps as root))
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

define ROOM_RULE
$(B)/lib$(1).a: $(call obj,$(call room-src,$(1)))
	@rm -f $$@
	$$(call say,AR)
	$(Q)ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call ROOM_RULE,$(r))))

PURE := $(B)/daemon/control/decide.o $(B)/daemon/control/admit.o
$(B)/libpure.a: $(PURE)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

# what tests/check-layers.sh holds the includes against
floors:
	@$(foreach r,ctl signal hooks $(ROOMS),echo $(r) $(SEES_$(r));)

# Each library is named once, above those that it may see. (tests/tests.mk links each room by itself: what
# proves its layer is that it needs nothing else.)
$(B)/storpowerd: $(patsubst %.c,$(B)/%.o,$(wildcard daemon/*.c)) $(call libs,$(ROOMS))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# its verbs are a library for the sake of tests
$(B)/libctl.a: $(call obj,$(filter-out daemon/ctl/ctl.c,$(call room-src,ctl)))
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(B)/storpowerctl: $(B)/daemon/ctl/ctl.o $(call libs,$(SEES_ctl))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libsignal.a: $(call obj,$(filter-out daemon/signal/storpower-signal-%,$(call room-src,signal)))
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

# the one that speaks HTTP
$(B)/storpower-signal-openadr: LIBS += $(shell pkg-config --libs $(SIGNAL_PKGS) 2>/dev/null)

$(SIGNALS:%=$(B)/%): $(B)/%: $(B)/daemon/signal/%.o $(call libs,$(SEES_signal))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libhooks.a: $(call obj,$(filter-out daemon/hooks/storpower-hooks.c,$(call room-src,hooks)))
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(B)/storpower-hooks: $(B)/daemon/hooks/storpower-hooks.o $(call libs,$(SEES_hooks))
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# eBPF: CO-RE against our own minimal types, so that no kernel headers or BTF are needed to build.
# clang 14 needs -mcpu=v3 for atomic fetch-and-add. They name their own source files, without the folder of the
# build, so that two builds are the same.
$(B)/gen/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(WERROR) -D__TARGET_ARCH_$(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/') \
		-ffile-prefix-map=$(CURDIR)=. -Ibpf -c -o $@ $<

$(B)/gen/%.skel.h: $(B)/gen/%.bpf.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

$(call obj,$(call room-src,meter)): | $(BPF_SKELS)

UNITS := $(patsubst packaging/%,$(B)/%,$(wildcard packaging/storpower*.service))

# What is installed: MODE:FILE:FOLDER, for install and uninstall alike.
man-folder = $(PREFIX)/share/man/man$(subst .,,$(suffix $(1)))
INSTALLED = \
	755:$(B)/storpowerd:$(PREFIX)/sbin \
	755:$(B)/storpowerctl:$(PREFIX)/bin \
	$(foreach s,$(SIGNALS),755:$(B)/$(s):$(PREFIX)/sbin) \
	755:$(B)/storpower-hooks:$(PREFIX)/sbin \
	$(foreach u,$(UNITS),644:$(u):$(UNITDIR)) \
	644:packaging/storpower-metrics.timer:$(UNITDIR) \
	644:packaging/storpower-hooks.socket:$(UNITDIR) \
	644:packaging/grafana-storpower.json:$(DATADIR) \
	644:packaging/prometheus-storpower.rules.yml:$(DATADIR) \
	644:packaging/storpower.catalog:$(CATALOGDIR) \
	644:packaging/org.storpower1.conf:$(DBUSDIR)/system.d \
	644:packaging/org.storpower1.policy:$(POLKITDIR) \
	644:packaging/org.storpower1.service:$(DBUSDIR)/system-services \
	644:packaging/storpower.conf:$(PREFIX)/share/doc/storpower \
	$(foreach f,$(wildcard packaging/signals/*.conf),644:$(f):$(PREFIX)/share/doc/storpower/signals) \
	$(foreach f,$(wildcard packaging/hooks/*),644:$(f):$(PREFIX)/share/doc/storpower/hooks) \
	644:packaging/completions/bash/storpowerctl:$(PREFIX)/share/bash-completion/completions \
	644:packaging/completions/zsh/_storpowerctl:$(PREFIX)/share/zsh/site-functions \
	644:packaging/completions/fish/storpowerctl.fish:$(PREFIX)/share/fish/vendor_completions.d \
	$(foreach f,$(wildcard daemon/bus/*.xml),644:$(f):$(DBUSDIR)/interfaces) \
	$(foreach f,$(wildcard man/*.[1-8]),644:$(f):$(call man-folder,$(f))) \
	$(foreach f,$(wildcard policies/*.policy),644:$(f):$(DATADIR)) \
	$(foreach f,$(wildcard policies/profiles/*),644:$(f):$(DATADIR)/profiles) \
	$(foreach f,$(wildcard policies/nodes/*),644:$(f):$(DATADIR)/nodes)

$(UNITS): $(B)/%.service: packaging/%.service Makefile
	@mkdir -p $(@D)
	sed 's|/usr/\(s*bin\)/|$(PREFIX)/\1/|' $< > $@

install: all $(UNITS)
	@set -e; for entry in $(INSTALLED); do \
		rest=$${entry#*:}; \
		install -D -m $${entry%%:*} -t "$(DESTDIR)$${rest#*:}" "$${rest%%:*}"; \
	done
	install -d "$(DESTDIR)$(SYSCONFDIR)/storpower/profiles" "$(DESTDIR)$(SYSCONFDIR)/storpower/signals" \
		"$(DESTDIR)$(SYSCONFDIR)/storpower/hooks.d"

# The running daemon gives everything back as it ends; without systemd, what an earlier run has left is put
# back here. What is in the way of that is said, and the files go all the same.
uninstall: $(if $(DESTDIR),,give-back)
	@for entry in $(INSTALLED); do \
		rest=$${entry#*:}; file=$${rest%%:*}; \
		rm -f "$(DESTDIR)$${rest#*:}/$${file##*/}"; \
	done
	@for folder in $(DATADIR)/profiles $(DATADIR)/nodes $(DATADIR) $(PREFIX)/share/doc/storpower/signals \
			$(PREFIX)/share/doc/storpower/hooks $(PREFIX)/share/doc/storpower \
			$(SYSCONFDIR)/storpower/profiles $(SYSCONFDIR)/storpower/signals \
			$(SYSCONFDIR)/storpower/hooks.d $(SYSCONFDIR)/storpower; do \
		rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$folder" 2>/dev/null || true; \
	done
	@$(if $(DESTDIR),,! test -d $(SYSTEMD_RUNS) || systemctl daemon-reload || true)

give-back:
	@if test -d $(SYSTEMD_RUNS); then \
		! test -e "$(UNITDIR)/storpowerd.service" || \
			systemctl disable --now $(SIGNALS:%=%.service) storpowerd.service storpower-metrics.timer \
				storpower-hooks.socket; \
	elif test -x "$(PREFIX)/sbin/storpowerd"; then \
		"$(PREFIX)/sbin/storpowerd" --restore; \
	fi || echo "uninstall: not everything was put back; the journal stays in /var/lib/storpower" >&2

demo:
	@packaging/deps --demo
	@$(SUB) all
	@B=$(B) packaging/demo.sh

# bench-run is in tests/bench/bench.mk
bench:
	@packaging/deps --dev
	@$(SUB) bench-run

clean:
	rm -rf $(B)

.PHONY: all floors install uninstall give-back demo bench clean
.SECONDARY:
-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
include tests/tests.mk
include tests/checks.mk
include packaging/packages.mk
include tests/vm/vm.mk
