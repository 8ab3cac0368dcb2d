"""How it looks: with the notebook's own colours where it names them, light or dark where not."""

from __future__ import annotations

_ROOT = ".webtools-shown"

# Twice the class outweighs what notebooks say about tables and links in outputs.
_RULES = """
& { --wt-0: #ffffff; --wt-1: #1f2328; --wt-2: #59636e; --wt-3: #d1d9e0; --wt-4: #0969da;
  --wt-bad: #cf222e; --wt-warn: #bf8700; --wt-good: #1a7f37; }
@media (prefers-color-scheme: dark) { & { --wt-0: #111418; --wt-1: #e6edf3; --wt-2: #9198a1;
  --wt-3: #3d444d; --wt-4: #58a6ff; } }
& {
  --wt-back: var(--jp-layout-color0, var(--vscode-editor-background, var(--wt-0)));
  --wt-text: var(--jp-ui-font-color0, var(--vscode-editor-foreground, var(--wt-1)));
  --wt-dim: var(--jp-ui-font-color2, var(--vscode-descriptionForeground, var(--wt-2)));
  --wt-line: var(--jp-border-color2, var(--vscode-editorWidget-border, var(--wt-3)));
  --wt-link: var(--jp-content-link-color, var(--vscode-textLink-foreground, var(--wt-4)));
  background: var(--wt-back); color: var(--wt-text); container-type: inline-size;
  box-sizing: border-box; width: 100%; padding: 8px 10px; text-align: start;
  font: 13px/1.5 var(--jp-ui-font-family, system-ui, sans-serif); overflow-wrap: anywhere; }
& * { box-sizing: border-box; }
& a { color: var(--wt-link); text-decoration: underline; text-underline-offset: 2px; }
& .wt-head { font-size: 14px; margin: 0 0 4px; }
& .wt-kind { font-weight: 600; margin-inline-end: 3px; }
& .wt-facts, & .wt-url, & .wt-fact, & .wt-more { color: var(--wt-dim); font-size: 12px; }
& .wt-url a { color: inherit; text-decoration: none; }
& .wt-url a:hover { text-decoration: underline; }
& .wt-note { border-inline-start: 3px solid var(--wt-warn); padding: 1px 8px; margin: 6px 0; }
& .wt-note.wt-bad { border-color: var(--wt-bad); }
& .wt-label { font-weight: 600; margin-inline-end: 3px; }
& .wt-pill { border: 1px solid var(--wt-dim); border-radius: 9px; padding: 0 8px;
  font-weight: 600; margin-inline-end: 3px; white-space: nowrap; }
& .wt-pill.wt-good { border-color: var(--wt-good); }
& .wt-pill.wt-warn { border-color: var(--wt-warn); }
& .wt-pill.wt-bad { border-color: var(--wt-bad); }
& table { border-collapse: collapse; width: 100%; margin: 8px 0; table-layout: auto;
  font-size: 13px; color: inherit; border: 0; }
& tr, & tbody tr:nth-child(n), & tbody tr:hover { background: transparent; text-align: start; }
& th, & td { border: 0; border-bottom: 1px solid var(--wt-line); padding: 6px 8px;
  text-align: start; vertical-align: top; white-space: normal; max-width: none; }
& thead th { color: var(--wt-dim); font-size: 12px; font-weight: 600; white-space: nowrap;
  overflow-wrap: normal; }
& .wt-rank { text-align: end; color: var(--wt-dim); width: 1%; font-variant-numeric: tabular-nums; }
& .wt-day, & .wt-price, & .wt-task { white-space: nowrap; width: 1%; }
& .wt-source { width: 1%; min-width: 7em; max-width: 12em; }
& .wt-title { font-weight: 600; }
& .wt-alone { max-height: 40em; overflow: auto; }
& .wt-group th { padding-top: 12px; font-size: 13px; color: inherit; }
& .wt-text { margin: 8px 0; max-width: 110ch; font-size: 14px; overflow-x: auto; }
& .wt-plain { white-space: pre-wrap; }
& .wt-text :is(h1, h2, h3, h4, h5, h6) { font-size: 1.05em; font-weight: 600; margin: 12px 0 4px;
  color: inherit; }
& .wt-text h1 { font-size: 1.25em; }
& .wt-text h2 { font-size: 1.15em; }
& p { margin: 6px 0; }
& code { font: 0.93em var(--jp-code-font-family, ui-monospace, monospace); color: inherit;
  background: transparent; padding: 0; }
& blockquote { border-inline-start: 3px solid var(--wt-line); margin: 6px 0; padding: 0 10px;
  color: var(--wt-dim); font-size: inherit; white-space: pre-wrap; }
& .wt-text blockquote { white-space: normal; }
& hr { border: 0; border-top: 1px solid var(--wt-line); }
& .wt-answer { margin: 10px 0; }
& .wt-answer details { border: 0; margin: 0 0 10px; }
& .wt-answer summary { padding: 0; font-size: 12px; }
& ol, & ul { margin: 4px 0; padding-inline-start: 2.2em; }
& li { margin: 2px 0; }
& details { border: 1px solid var(--wt-line); border-radius: 4px; margin: 6px 0; }
& summary { cursor: pointer; padding: 6px 10px; }
& details > div { padding: 0 10px 6px; }
& pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32em; overflow: auto;
  margin: 6px 0; padding: 6px 10px; background: transparent; color: inherit;
  border: 1px solid var(--wt-line); border-radius: 4px;
  font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); }
@container (max-width: 560px) {
  & thead { display: none; }
  & table, & tbody, & tr, & td, & th { display: block; }
  & tbody tr { border-bottom: 1px solid var(--wt-line); padding: 8px 0; }
  & tbody tr.wt-group { border: 0; padding: 8px 0 0; }
  & td, & .wt-group th { border: 0; padding: 0; }
  & td.wt-rank { float: inline-start; width: auto; padding-inline-end: 6px; }
  & td.wt-day, & td.wt-source, & td.wt-type, & td.wt-task, & td.wt-price { display: inline;
    color: var(--wt-dim); font-size: 12px; margin-inline-end: 5px; }
  & td:empty:empty { display: none; }
}
"""

STYLE = " ".join(_RULES.replace("&", _ROOT * 2).split())
