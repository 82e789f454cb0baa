/** The style of the page, for light and dark, wide and narrow screens. */
export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d5dc, #3a4250); --soft: light-dark(#f4f6f8, #1b2027); --quiet: light-dark(#55606e, #a2adba);
  --link: light-dark(#0b5cad, #7db8ff); --get: light-dark(#0b6e4f, #63d2a8); --post: light-dark(#0b5cad, #7db8ff); --delete: light-dark(#a4262c, #ff9a9e); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #12161b); color: light-dark(#1a1f26, #e6eaef); display: grid;
  grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); min-height: 100vh; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: .2rem 0; }
main { padding: 1.5rem 2rem 4rem; max-width: 64rem; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: light-dark(#fff, #12161b); padding: .5rem; z-index: 1; }
h1 { margin-top: 0; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { margin: 1rem 0 .3rem; font-size: 1rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; padding: 0 .8rem; }
details[open] { padding-bottom: .8rem; }
summary { cursor: pointer; padding: .5rem 0; overflow-wrap: anywhere; }
summary span, small { color: var(--quiet); }
code, pre { font: .875em/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .8rem; border-radius: .4rem; overflow-x: auto; }
b.get { color: var(--get); } b.post { color: var(--post); } b.delete { color: var(--delete); }
summary b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
td:last-child { overflow-wrap: anywhere; width: 60%; }
td code { white-space: nowrap; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: .2rem 1rem; margin: .3rem 0 .3rem .2rem; padding-left: .8rem;
  border-left: 2px solid var(--line); }
dt, dd { margin: 0; }
.inner { margin-left: .2rem; padding-left: .8rem; border-left: 2px solid var(--line); }
.answer { border-top: 1px solid var(--line); padding: .4rem 0; }
.answer p { margin: .2rem 0; }
.landing { display: block; } .landing main { margin: 0 auto; } .landing pre { white-space: pre-wrap; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; border-right: 0; border-bottom: 1px solid var(--line); max-height: none; min-height: 0; }
  main { padding: 1rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
`;
