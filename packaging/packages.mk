# Packages. Each is built from an archive of the tree and in a folder below $(B), because Debian wants debian/ at
# the top. What is built twice is the same: all times are that of the newest entry of the changelog.

DIST := storpower-$(VERSION)
DIST_FILES := .ci .clang-format .clang-tidy .editorconfig LICENSE Makefile README.md bpf daemon man packaging \
	policies tests
DIST_SOURCES := $(shell find $(DIST_FILES) -type f ! -name '*.pyc' 2>/dev/null)
CHANGELOG := packaging/debian/changelog
CHANGED = $(shell date --utc --date="$$(sed -n 's/^ -- .*>  //p' $(CHANGELOG) | head -n 1)" +%s)
ARCHIVE := $(B)/dist/$(DIST).tar.gz
SPEC := packaging/rpm/storpower.spec
# Variables of this make, as B and DESTDIR, are not for the one that the package's rules start.
CLEAN_ENV = env -i PATH="$$PATH" HOME="$$HOME" LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=$(CHANGED)
# Debian's rpm knows neither its own distribution's names for what is needed nor systemd's macros.
RPM_OPTIONS = $(if $(wildcard /etc/debian_version),--nodeps --load=packaging/rpm/macros.systemd)

dist: $(ARCHIVE)
	@echo $<

$(ARCHIVE): $(DIST_SOURCES)
	@mkdir -p $(@D)
	$(Q)tar --create --sort=name --mtime=@$(CHANGED) --owner=0 --group=0 --numeric-owner --exclude=__pycache__ \
		--mode=u=rwX,go=rX --transform='s,^,$(DIST)/,' $(DIST_FILES) | gzip -n >$@

deb: $(B)/deb/made
	@ls $(<D)/*.deb

$(B)/deb/made: $(ARCHIVE)
	@rm -rf $(@D)
	@mkdir -p $(@D)
	$(Q)tar --extract --directory=$(@D) --file=$<
	@mv $(@D)/$(DIST)/packaging/debian $(@D)/$(DIST)/debian
	$(Q)cd $(@D)/$(DIST) && $(CLEAN_ENV) dpkg-buildpackage --no-sign >../log 2>&1 || { tail -n 30 ../log >&2; exit 1; }
	@touch $@

rpm: $(B)/rpm/made
	@find $(<D) -name '*.rpm'

$(B)/rpm/made: $(ARCHIVE)
	@rm -rf $(@D)
	@mkdir -p $(@D)
	$(Q)$(CLEAN_ENV) rpmbuild -ba $(RPM_OPTIONS) --define "_topdir $(abspath $(@D))" \
		--define "_sourcedir $(abspath $(B)/dist)" $(SPEC) >$(@D)/log 2>&1 || { tail -n 30 $(@D)/log >&2; exit 1; }
	@touch $@

# Without a network, or where there are no such tools, tests/check-packages.sh says what it leaves out.
check-packages:
	@packaging/deps --packages || true
	@if command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null; then $(SUB) $(B)/deb/made; fi
	@B=$(B) tests/check-packages.sh

# The same tree, built in another folder, gives the same packages to the last bit.
check-reproducible:
	@packaging/deps --packages
	@$(SUB) $(B)/deb/made
	@rm -rf $(B)/again
	@$(SUB) B=$(B)/again $(B)/again/deb/made
	@for package in $(B)/deb/*.deb; do cmp $$package $(B)/again/deb/$${package##*/} || exit 1; done
	@echo "ok     packages built twice are the same"

.PHONY: dist deb rpm check-packages check-reproducible
