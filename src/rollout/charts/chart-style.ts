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
/* What has a tone, and what is soft in it. */
.good { --tone: var(--good); --soft: var(--good-soft) }
.busy { --tone: var(--busy); --soft: var(--busy-soft) }
.late { --tone: var(--late); --soft: var(--late-soft) }
.bad { --tone: var(--bad); --soft: var(--bad-soft) }
.rest { --tone: var(--rest); --soft: var(--rest-soft) }
.quiet { color: var(--quiet) }
.small { font-size: 0.85rem }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 0.2rem; margin-right: 0.35rem }
.swatch, .lane .span { background: var(--tone) }
.legend .swatch { margin-left: 0.6rem }
.trend { display: block; width: 10rem; height: 2rem; margin-top: 0.2rem }
.trend polyline, .trend .limit { fill: none; stroke: var(--quiet) }
.trend .limit { stroke-dasharray: 3 3 }
.trend circle, .stacked polygon { fill: var(--tone) }
.timeline { margin-bottom: 0.8rem }
.plot { position: relative; border-bottom: 1px solid var(--line); padding: 0.2rem 0 }
.lane { position: relative; height: 2.1rem }
.lane > span { position: absolute; top: 0; left: 0; font-size: 0.75rem; color: var(--quiet); line-height: 1.1 }
.plot i { position: absolute; display: block }
.plot i, .swatch { print-color-adjust: exact }
.lane .span { top: 0.9rem; height: 0.9rem; min-width: 3px; border-radius: 0.25rem }
.span.soak, .swatch.soak { background: repeating-linear-gradient(135deg, var(--busy) 0 5px, var(--busy-soft) 5px 9px) }
.span.soft, .swatch.soft { background: var(--busy-soft); outline: 1px solid var(--busy) }
.span.ahead { border: 1px dashed var(--busy) }
.plot .closed { top: 0; bottom: 0; background: var(--rest-soft) }
.plot .closed.freeze { background: repeating-linear-gradient(135deg, var(--rest-soft) 0 6px, var(--rest) 6px 8px) }
.swatch.closed { background: var(--rest-soft); border: 1px solid var(--line) }
.plot .mark { top: 0; bottom: 0 }
.mark.now { border-left: 2px solid var(--text) }
.mark.eta { min-width: 4px; background: color-mix(in srgb, var(--accent) 25%, transparent); border-left: 1px solid var(--accent); border-right: 1px solid var(--accent) }
.swatch.eta { background: color-mix(in srgb, var(--accent) 25%, transparent); border: 1px solid var(--accent) }
.ticks { display: flex; justify-content: space-between; gap: 0.5rem; font-size: 0.75rem; color: var(--quiet); font-variant-numeric: tabular-nums }
.stacked svg { display: block; width: 100%; height: 10rem; border-bottom: 1px solid var(--line); border-left: 1px solid var(--line) }
@media (max-width: 44rem) { .ticks span:nth-child(even) { display: none } }
`;
