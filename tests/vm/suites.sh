# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced: releases of Debian, from where this machine's apt gets its own. Nothing of apt's own state changes.

cache=${STORPOWER_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/storpower-vm}
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

die() {
	echo "tests/vm/${0##*/}: $*" >&2
	exit 1
}

say() {
	echo "tests/vm/${0##*/}: $*" >&2
}

debian_indexes() { # [OPTION...]: URI RELEASE COMPONENT
	# shellcheck disable=SC2016 # apt's own variables
	apt-get "$@" indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' | sort -u
}

# The lines "deb URI RELEASE COMPONENT" of this machine's Debian, whichever form its sources have.
own_sources() {
	local keyring indexes lists=(-o "Dir::State::lists=$cache/apt-own")
	keyring=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} || true; } 2>/dev/null |
		sed -nE 's/^[^#]*[Ss]igned-[Bb]y(:|=) *(\/[^] ]*debian[^] ]*).*/\2/p' | sort -u | sed 1q)
	indexes=$(debian_indexes)
	if [[ -z $indexes ]]; then
		# apt's lists were never fetched or thrown away: without them it does not know whose they are
		mkdir -p "$cache/apt-own/partial"
		apt-get -qq "${lists[@]}" -o APT::Sandbox::User=root update
		indexes=$(debian_indexes "${lists[@]}")
	fi
	awk -v keyring="${keyring:+[signed-by=$keyring] }" -v codename="$codename" \
		'$2 ~ "^" codename "(-|$)" { print "deb " keyring $0 }' <<<"$indexes"
}

sources_of() { # SUITE: the same of another release
	own_sources | awk -v own="$codename" -v suite="$1" '{ sub("^" own, suite, $(NF - 1)); print }'
}

number_of() { # SUITE
	case $1 in
	bookworm) echo 12 ;;
	trixie) echo 13 ;;
	*) die "unknown release of Debian \"$1\" (bookworm, trixie)" ;;
	esac
}

packages_of() { # SUITE KIND: as packaging/deps has them
	local number
	number=$(number_of "$1")
	"$(dirname "${BASH_SOURCE[0]}")/../../packaging/deps" --debian="$number" "$2" --print --all
}

# Makes a root of a release with these packages, and prints it as a tar: nothing is ever mounted below a
# folder that stays. LOG is there only while it is made and where it fails.
bootstrap() { # SUITE PACKAGES LOG [MMDEBSTRAP-OPTION...]
	local suite=$1 packages sources=$3.list log=$3
	packages=$(xargs <<<"$2" | tr ' ' ,)
	shift 3
	sources_of "$suite" >"$sources"
	[[ -s $sources ]] || die "apt's sources name no Debian \"$codename\""
	apt-config dump --format '%f "%v";%n' | grep -i '^Acquire::http.*proxy' >"$log.proxy" || true
	say "making a root of $suite"
	if ! mmdebstrap --variant=minbase --format=tar --include="$packages" \
		--aptopt="$log.proxy" --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Install-Recommends "false"' "$@" "$suite" - "$sources" 2>"$log"; then
		grep -E '^(E|W):' "$log" >&2 || tail -n 30 "$log" >&2
		return 1
	fi
	rm "$sources" "$log.proxy" "$log"
}
