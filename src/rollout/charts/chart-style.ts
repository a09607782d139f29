/** The colours and charts of the web UI and of documents, as CSS. Documents follow the reader's theme, too. */
export const chartStyle = `
/* In light and dark. Colours never stand alone: each is named by a word beside it. */
:root {
  --ground: light-dark(#f3f5f8, #0f151b);
  --card: light-dark(#ffffff, #18212a);
  --line: light-dark(#dbe1e8, #2c3944);
  --text: light-dark(#16202a, #e6edf3);
  --quiet: light-dark(#526170, #a2b2c0);
  --accent: light-dark(#0a6382, #5cc3e0);
  --on-accent: light-dark(#ffffff, #08222c);
  --good: light-dark(#176b3a, #56c583);
  --busy: light-dark(#1769b5, #6cb1f2);
  --late: light-dark(#855600, #e3b04a);
  --bad: light-dark(#b3261e, #f77f78);
  --rest: light-dark(#cfd7df, #3f4e5b);
  --good-soft: light-dark(#e1f3e8, #163524);
  --busy-soft: light-dark(#e2eefa, #17324d);
  --late-soft: light-dark(#fbf0d9, #3b2f14);
  --bad-soft: light-dark(#fbe6e4, #43201e);
  --rest-soft: light-dark(#eaeef2, #25313b);
  font: 15px / 1.5 system-ui, sans-serif;
  color-scheme: light dark;
}
/* The builds before the target. Each contrasts by 1.4 with the others and with the target, and has a hue of its own. */
.build-1 { --tone: light-dark(#d1dae7, #3c434e) }
.build-2 { --tone: light-dark(#2b2547, #fef9ff) }
.build-3 { --tone: light-dark(#e99ac7, #8a436e) }
.build-4 { --tone: light-dark(#976f35, #f8cc91) }
.build-5 { --tone: light-dark(#6398be, #457a9f) }
.build-6 { --tone: light-dark(#4e3191, #9881e8) }
/* What has a tone, and what is soft in it. */
.good { --tone: var(--good); --soft: var(--good-soft) }
.busy { --tone: var(--busy); --soft: var(--busy-soft) }
.late { --tone: var(--late); --soft: var(--late-soft) }
.bad { --tone: var(--bad); --soft: var(--bad-soft) }
.rest { --tone: var(--rest); --soft: var(--rest-soft) }
.quiet { color: var(--quiet) }
.small { font-size: 0.85rem }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 0.2rem; margin-right: 0.35rem }
.swatch { background: var(--tone) }
.legend span { display: inline-block; margin-right: 0.9rem }
.trend { display: block; width: 10rem; height: 2rem; margin-top: 0.2rem }
.trend polyline, .trend .limit { fill: none; stroke: var(--quiet) }
.trend .limit { stroke-dasharray: 3 3 }
.trend circle, .stacked polygon { fill: var(--tone) }
.night, .stacked { container-type: inline-size }
.night { margin-bottom: 0.8rem }
.night svg, .tick-row { overflow: visible }
.plot, .tick-row { display: block }
.plot, .plot rect, .swatch { print-color-adjust: exact }
.plot text, .tick-row text { font-size: 12px; fill: var(--quiet); font-variant-numeric: tabular-nums }
.plot text { paint-order: stroke; stroke: var(--card); stroke-width: 3px; stroke-linejoin: round }
/* Over the stripes of a hold as well. */
.plot :is(.lane-name, .lane-details) { fill: var(--text); stroke-width: 6px }
.plot .lane-name { font-size: 13px; font-weight: 600 }
.plot .number rect { fill: var(--card); stroke: var(--tone); stroke-width: 1.5 }
.plot .number text { fill: var(--text); stroke: none; font-size: 11px; font-weight: 600 }
.plot .ground { stroke: var(--line) }
.plot .leader { stroke: var(--quiet); stroke-opacity: 0.45; stroke-dasharray: 1 3 }
.plot .cut { stroke: var(--card); stroke-width: 5; stroke-dasharray: 5 5 }
.plot .present { stroke: var(--text); stroke-width: 2 }
.plot .eta { fill: var(--accent); fill-opacity: 0.25; stroke: var(--accent) }
.stretch { fill: var(--tone); rx: 3px }
.stretch.soak { fill: url(#night-soak); stroke: var(--busy) }
.stretch.back { fill: url(#night-back); stroke: var(--late) }
.stretch.gates { fill: var(--busy-soft); stroke: var(--busy) }
.stretch.approval { fill: var(--late-soft); stroke: var(--late) }
.stretch.ahead { fill: none; stroke: var(--busy); stroke-dasharray: 4 3 }
.band.window { fill: var(--rest-soft) }
.band.approval { fill: var(--late-soft) }
.band.hold { fill: url(#night-hold) }
.band.buildHold { fill: url(#night-buildHold) }
.band.inventory { fill: url(#night-inventory) }
.band.pause { fill: url(#night-pause) }
.band.freeze { fill: url(#night-freeze) }
.stripes rect { fill: var(--busy-soft) }
.stripes line { stroke: var(--busy) }
.stripes.back rect { fill: var(--late-soft) }
.stripes.back line { stroke: var(--late) }
:is(.stripes.hold, .stripes.buildHold, .stripes.inventory) rect { fill: var(--bad-soft) }
:is(.stripes.hold, .stripes.buildHold, .stripes.inventory) line { stroke: var(--bad); stroke-opacity: 0.55 }
.stripes.pause rect { fill: var(--late-soft) }
.stripes.pause line { stroke: var(--late); stroke-opacity: 0.45 }
.stripes.freeze rect { fill: var(--rest-soft) }
.stripes.freeze line { stroke: var(--rest) }
.swatch.soak { background: repeating-linear-gradient(135deg, var(--busy) 0 5px, var(--busy-soft) 5px 9px) }
.swatch.back { background: repeating-linear-gradient(45deg, var(--late) 0 3px, var(--late-soft) 3px 6px) }
.swatch.gates { background: var(--busy-soft); border: 1px solid var(--busy) }
.swatch.approval { background: var(--late-soft); border: 1px solid var(--late) }
.swatch.window { background: var(--rest-soft); border: 1px solid var(--line) }
.swatch.hold { background: repeating-linear-gradient(135deg, var(--bad) 0 2px, var(--bad-soft) 2px 5px) }
.swatch.buildHold { background: conic-gradient(var(--bad) 25%, var(--bad-soft) 0) 0 0 / 6px 6px }
.swatch.inventory { background: repeating-linear-gradient(0deg, var(--bad) 0 2px, var(--bad-soft) 2px 5px) }
.swatch.pause { background: repeating-linear-gradient(90deg, var(--late) 0 2px, var(--late-soft) 2px 5px) }
.swatch.freeze { background: repeating-linear-gradient(45deg, var(--rest) 0 2px, var(--rest-soft) 2px 6px) }
.swatch.ahead { border: 1px dashed var(--busy) }
.swatch.present { width: 2px; background: var(--text) }
.swatch.eta { background: color-mix(in srgb, var(--accent) 25%, transparent); border: 1px solid var(--accent) }
.night ol { list-style: decimal; padding-left: 2.2rem; font-variant-numeric: tabular-nums }
.in-wide { display: none }
@container (min-width: 34rem) {
  .in-wide { display: inline }
  .in-narrow { display: none }
}
.stacked .layers { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--line); border-left: 1px solid var(--line) }
`;
