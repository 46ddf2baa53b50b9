#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The page that storpowerctl report --html writes, as a real browser shows it: light and dark, on a phone and on
# a desk. The pictures are left in build/reports/ for whoever wants to look.
. "$(dirname "$0")/../tap.sh"
export LC_ALL=C.UTF-8 TZ=UTC
fill=$build/tests/reports/fill-ledger
pictures=$build/reports
see=$(dirname "$0")/picture.py

for tool in chromium jq python3; do
	command -v $tool >/dev/null || { echo "Bail out! $tool is missing: run packaging/deps --reports"; exit 1; }
done
[[ -x $fill ]] || { echo "Bail out! $fill is missing: run make unit-tests"; exit 1; }
mkdir -p "$pictures"

write_page() { # NAME [strange]
	local day
	day=$(date -d 'yesterday 00:00' +%F)
	"$fill" "$tmp/$1.ledger" "$(date -d "$day 00:00" +%s)" 1440 "${@:2}" &&
		"$build/storpowerctl" report --ledger="$tmp/$1.ledger" --since="$day" \
			--until="$(date -d "$day 00:00 tomorrow" +%F)" --size=100TB --protection=8+3 --html="$tmp/$1.html"
}

# browse NAME OPTION...: with the page, from the file
browse() {
	local profile
	profile=$(mktemp -d -p "$tmp")
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync --disable-extensions \
		--user-data-dir="$profile" --hide-scrollbars "${@:2}" "file://$tmp/$1.html" 2>"$tmp/browser.err" ||
		{ cat "$tmp/browser.err"; return 1; }
}

picture() { # NAME WIDTH HEIGHT OPTION...
	rm -f "$pictures/$1.png"
	browse page --window-size="$2,$3" --screenshot="$pictures/$1.png" "${@:4}"
	[[ -s $pictures/$1.png ]]
}

light=--blink-settings=preferredColorScheme=1
dark=--blink-settings=preferredColorScheme=0

ok "a page is written" write_page page
ok "and one with names that are not harmless" write_page strange strange

ok "a desk in light" picture desk-light 1280 2500 $light
ok "a desk in the dark" picture desk-dark 1280 2500 $dark
ok "a phone in light" picture phone-light 390 4200 $light
ok "a phone in the dark" picture phone-dark 390 4200 $dark
# shows NAME FILTER: jq says true of what is seen in the picture
shows() {
	[[ -s $tmp/$1.json ]] || python3 "$see" "$pictures/$1.png" "${1#*-}" >"$tmp/$1.json"
	cat "$tmp/$1.json"
	jq -e "$2" "$tmp/$1.json"
}
for name in desk-light desk-dark phone-light phone-dark; do
	ok "$name is a page full of things" shows $name '.busy > .lines / 4 and .colours > 50'
	ok "$name shows what was drawn, the budget and where it was exceeded" shows $name \
		'.area > 500 and .budget > 30 and .above > 20'
	ok "$name has nothing at its right edge" shows $name .margin
done
for place in desk phone; do
	ok "$place: light is light" shows $place-light '.brightness > 200'
	ok "$place: dark is dark" shows $place-dark '.brightness < 60'
done
ok "a sheet of paper" browse page --print-to-pdf="$pictures/paper.pdf" --no-pdf-header-footer
ok "is a PDF of some pages" bash -c "head -c 5 '$pictures/paper.pdf' | grep -q '%PDF-' && (($(stat -c %s "$pictures/paper.pdf" 2>/dev/null || echo 0) > 10000))"

# ---- what the browser makes of it ----

dom() { # NAME
	browse "$1" --dump-dom >"$tmp/$1.dom" && [[ -s $tmp/$1.dom ]]
}
ok "the browser has its document" dom page
ok "in which nothing is loaded from elsewhere" python3 -c "
from html.parser import HTMLParser
class P(HTMLParser):
	n = 0
	def handle_starttag(self, tag, attrs):
		self.n += 1
		assert tag not in ('script', 'link', 'img', 'iframe', 'object', 'embed', 'image', 'use', 'a'), tag
		for k, v in attrs:
			assert k not in ('src', 'href', 'srcset', 'xlink:href', 'action') and not k.startswith('on'), (tag, k)
			assert 'url(' not in (v or ''), v
	def handle_data(self, data): assert '@import' not in data and 'url(' not in data
p = P(); p.feed(open('$tmp/page.dom').read()); assert p.n > 200, p.n"
ok "and which forbids itself to" grep -qF "default-src 'none'" "$tmp/page.dom"
ok "that with strange names, too" dom strange
ok "shows them as text" bash -c "grep -qF '&lt;script src=http://x/&gt;' '$tmp/strange.dom' &&
	grep -qF '&lt;img src=x onerror=alert(1)&gt;' '$tmp/strange.dom' && ! grep -qE '<script|<img' '$tmp/strange.dom'"

# A second page asks the first one, as scripts of the same file may not: chromium lets files read files here.
cat >"$tmp/ask.html" <<-END
	<!DOCTYPE html><body><iframe src="page.html" style="width:360px;height:3000px"></iframe><pre id=answer></pre>
	<script>
	document.querySelector('iframe').onload = e => {
		const d = e.target.contentDocument, w = d.documentElement;
		const wide = [...d.querySelectorAll('section, .card, .bar, td, dd, dt, h1, svg, footer')]
			.filter(x => x.getClientRects().length && x.getBoundingClientRect().right > w.clientWidth + 0.5);
		const clipped = [...d.querySelectorAll('.name, .value, td, dd, .card b')]
			.filter(x => x.getClientRects().length && x.scrollWidth > x.clientWidth + 1 && x.clientWidth);
		const ticks = [...d.querySelectorAll('svg.narrow .tick')].map(x => x.getBoundingClientRect());
		const overlap = ticks.filter((a, i) => ticks.some((b, k) => k > i && a.left < b.right && b.left < a.right &&
			a.top < b.bottom && b.top < a.bottom));
		answer.textContent = 'scroll=' + (w.scrollWidth - w.clientWidth) + ' wide=' + wide.length + ' clipped=' +
			clipped.length + ' ticks=' + (ticks.length > 5) + ' overlap=' + overlap.length + ' small=' +
			[...d.querySelectorAll('main *')].filter(x => x.getClientRects().length && x.textContent &&
				parseFloat(getComputedStyle(x).fontSize) < 12).length;
	};
	</script>
END
asked() {
	browse ask --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom >"$tmp/ask.dom"
	grep -o 'scroll=.*small=[0-9]*' "$tmp/ask.dom"
}
is "on a narrow phone nothing is wider than it, cut off, laid over another or too small" "$(asked)" \
	"scroll=0 wide=0 clipped=0 ticks=true overlap=0 small=0"
done_testing
