#pragma once

/// What the page of `weft report` looks like, and the few lines that sort its table.
namespace weft::bench {

inline constexpr const char* page_style = R"css(
:root{color-scheme:light dark;--page:#ffffff;--ink:#14181f;--muted:#545b66;--grid:#e3e6ea;--soft:#f4f6f8;--link:#1f5fae;--warn:#9a3412}
@media screen and (prefers-color-scheme: dark){:root{--page:#15181d;--ink:#eef1f5;--muted:#a4acb8;--grid:#2c323b;--soft:#1d2127;--link:#7db4f5;--warn:#f5a97f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--grid)}h3{font-size:1rem;margin:1rem 0 .25rem}h4,h5{font-size:.95rem;margin:.5rem 0 .25rem}h5{font-weight:500}summary h3,summary h4{display:inline}
a{color:var(--link)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:.5rem 0}
.big{font-size:1.2rem;font-weight:600;margin:.5rem 0}
.quiet,figcaption{color:var(--muted);font-size:.875rem}
.warnings{border-left:4px solid var(--warn);background:var(--soft);padding:.5rem 1rem;margin:1rem 0}.warnings h2{margin:0;border:0;font-size:1.05rem;color:var(--warn)}.warnings ul{margin:.25rem 0;padding-left:1.2rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem 2rem;align-items:start}
figure{margin:0;min-width:0;break-inside:avoid}
figure svg{display:block;width:100%;max-width:34rem;height:auto}
figcaption{margin:.25rem 0 .5rem}
details{border-top:1px solid var(--grid);padding:.35rem 0}summary{cursor:pointer;font-weight:600}
.scroll{overflow:auto;max-width:100%;max-height:85vh}.scroll thead th{position:sticky;top:0}
table{border-collapse:collapse;font-size:.8125rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .5rem;border-bottom:1px solid var(--grid);text-align:right;white-space:nowrap;overflow-wrap:normal}
thead th{vertical-align:bottom;white-space:normal;max-width:7rem}th{background:var(--soft);vertical-align:baseline}td{vertical-align:baseline}th[scope=row],.text{text-align:left}
tbody th[scope=row]{white-space:normal;min-width:10rem;max-width:18rem;overflow-wrap:anywhere}td.why{text-align:left;white-space:normal;min-width:24rem}
th button{all:unset;cursor:pointer;font-weight:700}th button:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}
th button::after{content:" \2195";color:var(--muted)}th[aria-sort=ascending] button::after{content:" \2191";color:var(--ink)}th[aria-sort=descending] button::after{content:" \2193";color:var(--ink)}
tr.bad td,tr.bad th{color:var(--warn)}
pre{background:var(--soft);padding:.75rem;white-space:pre-wrap}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--muted)}dd{margin:0;min-width:0}
.heading{font-size:14px}.dot{stroke-width:.6}.dashed{stroke-dasharray:6 4}.hollow{fill:var(--page);stroke-width:1.8}.theirs{fill-opacity:.65}
.other{fill:var(--muted)}.other-line{stroke:var(--muted)}.roof{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-dasharray:2 3}.memory{stroke-dasharray:none}
@page{margin:12mm}@page wide{size:A4 landscape}
@media print{body{max-width:none;padding:0;font-size:11px}nav,th button::after{display:none}.figures{grid-template-columns:1fr 1fr}h2,h3,h4,h5,summary,p.quiet{break-after:avoid}
.scroll{overflow:visible;max-height:none}.scroll thead th{position:static}.everything{page:wide}.everything table{font-size:8px}.everything th,.everything td{padding:1px 3px}.everything tbody th[scope=row]{min-width:0;max-width:9rem}.extra{display:none}tbody th[scope=row]{white-space:normal;min-width:10rem;max-width:18rem;overflow-wrap:anywhere}td.why{min-width:0}tr{break-inside:avoid}}
)css";

inline constexpr const char* page_script = R"js(
document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  Array.prototype.forEach.call(heads, function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var up = head.getAttribute("aria-sort") !== "ascending";
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      var text = head.classList.contains("text");
      var rows = Array.prototype.map.call(body.rows, function (row) {
        var key = row.cells[column].textContent.trim(), number = parseFloat(key);
        return { row: row, key: text ? key : number, none: text ? key === "" : isNaN(number) };
      });
      rows.sort(function (a, b) {
        if (a.none || b.none) return a.none - b.none;
        var order = text ? a.key.localeCompare(b.key) : a.key - b.key;
        return up ? order : -order;
      });
      rows.forEach(function (one) { body.appendChild(one.row); });
    });
  });
});
window.addEventListener("beforeprint", function () {
  document.querySelectorAll("details").forEach(function (one) { one.open = true; });
});
)js";

}  // namespace weft::bench
