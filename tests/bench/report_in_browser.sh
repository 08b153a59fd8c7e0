#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/bench/report_in_browser.sh [REPORT.html]: opens the HTML report of a benchmark in headless Chromium, 1200 and
# 400 pixels wide, and fails if the page or its summary overflows, if texts of a chart overlap or are cut off, or if the
# console has an error. Without a file it takes the sample of the unit tests. With AXE=axe.min.js (npm: axe-core) it
# also fails for serious findings of axe. Screenshots are in the printed folder: look at them.
# Not part of ./quickstart test, which needs no browser. Exit status 77: skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "skipped: no Chromium (apt install chromium)"; exit 77; }

out=$(mktemp -d -t teamo-report.XXXXXX)
if [ $# -gt 0 ]; then
    cp "$1" "$out/report.html"
else
    test=build/debug/bin/ctl_test
    [ -x $test ] || { echo "skipped: no $test (cmake --build --preset debug --target ctl_test)"; exit 77; }
    TEAMO_REPORT=$out/report.html $test --gtest_filter=HtmlReport.of_a_whole_run_has_every_chart >"$out/log"
fi

# The copy under test has a script that logs what it finds to the console.
{
    cat "$out/report.html"
    if [ -n "${AXE:-}" ]; then echo '<script>'; cat "$AXE"; echo '</script>'; fi
    cat <<'SCRIPT'
<script>
(async () => {
  const page = document.documentElement, found = [];
  if (page.scrollWidth > page.clientWidth) found.push(`page is ${page.scrollWidth} pixels wide, window ${page.clientWidth}`);
  for (const box of document.querySelectorAll('.first .scroll'))
    if (box.scrollWidth > box.clientWidth) found.push(`the summary is ${box.scrollWidth} pixels wide, its box ${box.clientWidth}`);
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(one => [one.getBoundingClientRect(), one.textContent]);
    texts.forEach(([a, text], index) => {
      if (a.right > edge.right + 1 || a.left < edge.left - 1) found.push(`cut off: ${text}`);
      for (const [b, other] of texts.slice(index + 1))
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4) found.push(`overlap: ${text} and ${other}`);
    });
  }
  if (window.axe) for (const one of (await axe.run()).violations)
    if (one.impact === 'serious' || one.impact === 'critical') found.push(`axe: ${one.help}: ${one.nodes[0].html}`);
  for (const one of found) console.log(`FOUND ${one.replaceAll('\n', ' ')}`);
  console.log(`CHECKED ${innerWidth}`);
})();
</script>
SCRIPT
} >"$out/checked.html"

failed=0
for width in 1200 400; do
    # A window of Chromium is at least 500 pixels wide; a frame in it is not.
    for page in checked report; do
        echo "<!DOCTYPE html><title>frame</title><body style='margin:0'><iframe src=$page.html title=report" \
            "style='border:0;width:${width}px;height:2400px'></iframe>" >"$out/$page-$width.html"
    done
    options=(--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
        --disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr
        --window-size="$((width < 500 ? 500 : width)),2400" --virtual-time-budget=30000
        --user-data-dir="$out/profile-$width")
    "$browser" "${options[@]}" --dump-dom "file://$out/checked-$width.html" >/dev/null 2>"$out/console-$width"
    "$browser" "${options[@]}" --screenshot="$out/report-$width.png" "file://$out/report-$width.html" 2>/dev/null
    if ! grep -q "CHECKED $width\"" "$out/console-$width"; then
        echo "$width pixels: the check did not end"
        failed=1
    fi
    if grep CONSOLE "$out/console-$width" | grep -v "CHECKED $width\"" >"$out/found"; then
        sed "s/^.*CONSOLE[^ ]* /$width pixels: /" "$out/found"
        failed=1
    fi
done
rm -rf "$out"/profile-*
[ $failed = 1 ] || echo "no overflow, no overlap, no console error${AXE:+, nothing serious by axe}"
echo "screenshots: $out/report-1200.png $out/report-400.png"
exit $failed
