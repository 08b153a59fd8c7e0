// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/html/style.h"

namespace teamo::bench::html {

// All colours have a contrast of at least 4.5 to their background, bars of at least 3. A chart and its table
// stand side by side where both fit. A table scrolls in its box, so the page itself never does sideways.
std::string_view style_sheet() {
    return R"css(
:root { color-scheme: light dark; --paper-ink: #8a4b00; --ours: #0b5394; --text: #1c2024; --soft: #4f5862;
  --line: #c9d0d6; --page: #ffffff; --box: #f3f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --paper-ink: #f0b35a; --ours: #79b8ff; --text: #e8eaed; --soft: #b3bac2; --line: #454c54;
    --page: #14171a; --box: #1f2429; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
header, main { max-width: 74rem; margin: 0 auto; padding: 0 1rem; }
main { padding-bottom: 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.2rem 0 .2rem; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .2rem; }
nav { font-size: .93rem; margin: .8rem 0; }
nav a { color: var(--ours); display: inline-block; padding: .15rem .9rem .15rem 0; }
p { margin: .3rem 0 .7rem; max-width: 46rem; }
.soft, caption, .lead { color: var(--soft); }
ul { margin: .4rem 0; padding-left: 1.2rem; }
li, dd { overflow-wrap: anywhere; }
.chart { display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem 2rem; align-items: start; }
@media (min-width: 62rem) { .chart { grid-template-columns: minmax(0, 34rem) minmax(0, 1fr); } }
figure { margin: 0; min-width: 0; }
svg { display: block; width: 100%; max-width: 36rem; height: auto; }
svg.patterns { position: absolute; width: 0; height: 0; }
.scroll { overflow-x: auto; min-width: 0; margin: .3rem 0 .8rem; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .25rem; }
caption span { display: inline-block; max-width: min(46rem, calc(100vw - 4rem)); }
th, td { padding: .22rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  white-space: nowrap; }
thead th, td.words { white-space: normal; }
td.words { min-width: 14rem; text-align: left; }
th { font-weight: 600; }
tbody th { font-weight: 400; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--page); white-space: normal; min-width: 8.5rem; }
.cpus th:first-child { min-width: 3.5rem; }
thead th, thead th:first-child { background: var(--box); vertical-align: bottom; }
.first { background: var(--box); border: 1px solid var(--line); border-radius: .4rem; padding: .2rem 1rem .6rem;
  margin-top: 1rem; }
.first table { font-size: 1rem; }
.first tbody th, .first thead th { background: var(--box); }
.first tbody tr:nth-child(2) > * { font-weight: 600; font-size: 1.15em; }
.first h2 { border: 0; margin: .4rem 0 .2rem; padding: 0; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) minmax(0, 1fr); gap: .3rem 1rem; font-size: .93rem; }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0; }
@media (max-width: 40rem) {
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .6rem; }
  .first { padding: .1rem .7rem .5rem; }
  .first table { font-size: .8rem; }
  .first th:first-child { min-width: 5rem; }
  .first tbody tr:nth-child(2) > * { font-size: 1em; }

  th, td { padding: .2rem .35rem; }
  .first th, .first td { padding: .2rem; } }
text { fill: var(--text); font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
text.group { font-weight: 600; font-size: 12px; }
text.name, text.before { text-anchor: end; }
text.tick { text-anchor: middle; fill: var(--soft); font-size: 10px; }
text.side, text.group, text.value { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
text.axis { fill: var(--soft); }
@media (max-width: 40rem) { text { font-size: 12px; } text.group { font-size: 12.5px; } }
.grid { stroke: var(--line); stroke-width: 1; }
.zero { stroke: var(--soft); stroke-width: 1; }
.whisker { stroke: var(--text); stroke-width: 1.2; }
.bar.now, .mark.now { fill: var(--ours); stroke: var(--ours); }
.bar.then { fill: url(#stripes); stroke: var(--ours); }
.bar.paper { fill: url(#dots); stroke: var(--paper-ink); }
.bar.other { fill: none; stroke: var(--ours); }
.mark { stroke-width: 1.4; }
.mark.then, .mark.other { fill: var(--page); stroke: var(--ours); }
.mark.paper { fill: var(--page); stroke: var(--paper-ink); }
.line { fill: none; stroke: var(--ours); stroke-width: 1.2; }
.line.then { stroke-dasharray: 4 3; }
.line.paper { stroke: var(--paper-ink); stroke-dasharray: 1 3; }
.ink-then { fill: var(--ours); }
.ink-paper { fill: var(--paper-ink); }
@media print {
  nav { display: none; }
  :root { --paper-ink: #6b3a00; --ours: #000000; --text: #000000; --soft: #333333; --line: #999999;
    --page: #ffffff; --box: #ffffff; }
  body { font-size: 10.5pt; }
  header, main { max-width: none; padding: 0; }
  .chart, tr, li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  .scroll table { font-size: 8pt; }
  th, td { white-space: normal; padding: .15rem .3rem; }
  td.words { min-width: 0; }
  .wide table { font-size: 6.5pt; }
  .wide th, .wide td { padding: .1rem .2rem; } }
)css";
}

} // namespace teamo::bench::html
