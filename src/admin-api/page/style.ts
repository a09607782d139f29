/** The page's looks, in light and dark. Colours never stand alone: each is named by a word beside it. */
export const pageStyle = `
:root {
  --ground: #f4f6f8; --card: #ffffff; --line: #dce2e8; --text: #17212b; --quiet: #566573;
  --accent: #0a6c8a; --good: #1d7d46; --busy: #1769b5; --late: #8a5a00; --bad: #b3261e; --rest: #d5dce3;
  --good-soft: #e3f4ea; --busy-soft: #e4effa; --late-soft: #fbf0d9; --bad-soft: #fbe6e4; --rest-soft: #eceff2;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10161c; --card: #18212a; --line: #2c3944; --text: #e6edf3; --quiet: #9badbc;
    --accent: #56bfdd; --good: #56c583; --busy: #62abf0; --late: #e0aa3e; --bad: #f4716a; --rest: #3a4854;
    --good-soft: #163524; --busy-soft: #17324d; --late-soft: #3b2f14; --bad-soft: #43201e; --rest-soft: #25313b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); }
header, main { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; align-items: baseline; gap: 1rem; justify-content: space-between; padding-top: 1.25rem; }
h1 { margin: 0; font-size: 1.5rem; letter-spacing: -.02em; color: var(--accent); }
h2 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
h3 { margin: 1.25rem 0 .4rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .06em; color: var(--quiet); }
p { margin: 0; }
[hidden] { display: none !important; }
#connection { color: var(--quiet); font-size: .85rem; }
#connection.bad { color: var(--bad); font-weight: 600; }
.card, #sign-in, #held, #earlier { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin: 1rem 0; }
#held h2, #earlier h2 { margin-bottom: .5rem; }
.title { display: flex; flex-wrap: wrap; gap: .4rem .75rem; align-items: center; }
.badge { display: inline-block; border-radius: 99rem; padding: .05rem .65rem; font-size: .8rem; font-weight: 600; white-space: nowrap; background: var(--rest-soft); color: var(--quiet); }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.busy { background: var(--busy-soft); color: var(--busy); }
.badge.late { background: var(--late-soft); color: var(--late); }
.badge.bad { background: var(--bad-soft); color: var(--bad); }
.builds { font-variant-numeric: tabular-nums; }
.builds strong { color: var(--accent); }
.quiet { color: var(--quiet); }
.small { font-size: .85rem; }
.holds { list-style: none; margin: .9rem 0 0; padding: .6rem .9rem; border-left: 4px solid var(--late); background: var(--late-soft); border-radius: .3rem; }
.holds.bad { border-color: var(--bad); background: var(--bad-soft); }
.bar { display: flex; height: .75rem; border-radius: 99rem; overflow: hidden; background: var(--rest); margin: 1rem 0 .5rem; }
.bar span { display: block; height: 100%; min-width: 0; }
td .bar { height: .5rem; margin: 0; min-width: 6rem; }
.bar .good, .key .good { background: var(--good); }
.bar .busy, .key .busy { background: var(--busy); }
.bar .late, .key .late { background: var(--late); }
.bar .bad, .key .bad { background: var(--bad); }
.bar .rest, .key .rest { background: var(--rest); }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; margin: 0; padding: 0; font-size: .85rem; color: var(--quiet); }
.key i { display: inline-block; width: .65rem; height: .65rem; border-radius: .2rem; margin-right: .4rem; }
.key b { color: var(--text); font-variant-numeric: tabular-nums; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .75rem 1.25rem; margin: 1rem 0 0; }
.facts dt { font-size: .8rem; color: var(--quiet); }
.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; font-weight: 600; font-size: .8rem; color: var(--quiet); }
th, td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
th.name { width: 18%; } th.state { width: 34%; } th.progress { width: 22%; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { color: var(--text); font-size: .9rem; overflow-wrap: anywhere; min-width: 5rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.events { list-style: none; margin: 0; padding: 0; font-size: .85rem; }
.events li { display: grid; grid-template-columns: 5.5rem minmax(9rem, 13rem) 1fr; gap: .1rem .8rem; padding: .25rem 0; border-bottom: 1px solid var(--line); }
.events li:last-child { border-bottom: 0; }
.events time { color: var(--quiet); font-variant-numeric: tabular-nums; }
.events .name { font-weight: 600; overflow-wrap: anywhere; }
.events .name.good { color: var(--good); } .events .name.busy { color: var(--busy); }
.events .name.late { color: var(--late); } .events .name.bad { color: var(--bad); }
.events .what { overflow-wrap: anywhere; }
.empty { padding: 3rem 0; text-align: center; color: var(--quiet); }
dd .late { color: var(--late); }
dd .quiet { font-weight: 400; }
.gates { list-style: none; margin: 0; padding: 0; font-size: .9rem; }
.gates li { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: baseline; padding: .2rem 0; overflow-wrap: anywhere; }
.verbs { display: flex; flex-wrap: wrap; gap: .5rem; margin-left: auto; }
button { font: inherit; font-size: .85rem; padding: .25rem .8rem; border: 1px solid var(--line); border-radius: .45rem; background: var(--card); color: var(--text); cursor: pointer; }
button:hover { border-color: var(--accent); }
button.bad { color: var(--bad); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#sign-in { max-width: 26rem; margin: 3rem auto; display: grid; gap: .6rem; }
input { font: inherit; padding: .45rem .6rem; border: 1px solid var(--quiet); border-radius: .45rem; background: var(--ground); color: var(--text); width: 100%; }
#sign-in button { background: var(--accent); color: var(--card); border: 0; padding: .5rem; font-weight: 600; }
#sign-in-error, .error { color: var(--bad); font-size: .85rem; }
dialog { border: 1px solid var(--line); border-radius: .75rem; background: var(--card); color: var(--text); width: min(28rem, 90vw); }
dialog::backdrop { background: #0008; }
dialog form { display: grid; gap: .7rem; }
dialog .verbs { justify-content: flex-end; }
@media (max-width: 40rem) {
  .events li { grid-template-columns: 5.5rem 1fr; }
  .events .what { grid-column: 1 / -1; }
}
`;
