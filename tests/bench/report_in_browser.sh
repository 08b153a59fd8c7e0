#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/bench/report_in_browser.sh [REPORT.html]: opens the HTML report of a benchmark in headless Chromium, 1200 and
# 400 pixels wide, and fails if the page overflows, if a chart is not drawn, or if the console has an error. Prints it to PDF. Without a file it takes the sample of the unit tests. With AXE=axe.min.js (npm: axe-core) it
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
    test=build/debug/bin/bench_test
    [ -x $test ] || { echo "skipped: no $test (cmake --build --preset debug --target bench_test)"; exit 77; }
    TEAMO_REPORT=$out/report.html $test --gtest_filter=HtmlReport.has_the_library_that_draws >"$out/log"
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
  await new Promise(done => setTimeout(done, 3000));
  const drawn = [...document.querySelectorAll('canvas')];
  if (drawn.length === 0) found.push('no chart was drawn: is libjs-chart.js installed?');
  for (const canvas of drawn)
    if (canvas.width < 200 || canvas.height < 200) found.push(`a chart of ${canvas.width} x ${canvas.height} pixels: ${canvas.ariaLabel}`);
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
"$browser" "${options[@]}" --print-to-pdf="$out/report.pdf" "file://$out/report.html" 2>/dev/null
rm -rf "$out"/profile-*
[ $failed = 1 ] || echo "no overflow, all charts drawn, no console error${AXE:+, nothing serious by axe}"
echo "look at: $out/report-1200.png $out/report-400.png $out/report.pdf"
exit $failed
