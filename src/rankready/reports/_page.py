"""The HTML page's template: one file, no script, no network; both languages, one shown."""

from __future__ import annotations

STYLE = """
:root { --ink: #1c2330; --soft: #5c6675; --line: #dde2ea; --paper: #fff; --ground: #f4f6f9;
  --fail: #b3261e; --warn: #9a6700; --unknown: #5b4bb7; --pass: #1a7f4b; --skip: #7a8494; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b2; --line: #333b47; --paper: #1b2029;
  --ground: #12161c; --fail: #ff8a80; --warn: #e3b341; --unknown: #b3a7ff; --pass: #56d394; --skip: #8b95a5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
main, header { max-width: 1100px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 1.7em; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1em; margin: 0 0 10px; }
p { margin: 0; } p + p, table + p { margin-top: 6px; }
.state { font-weight: 700; } .s0 { color: var(--pass); } .s1, .s2 { color: var(--fail); } .s3,
  .s130 { color: var(--unknown); }
.meta { color: var(--soft); margin: 4px 0 14px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 16px 18px;
  margin: 0 0 16px; }
.simulated { background: var(--warn); color: var(--paper); padding: 10px 20px; text-align: center; font-weight: 700; }
.finding { border-left: 4px solid var(--line); padding: 2px 0 2px 12px; margin: 0 0 14px; overflow-wrap: anywhere; }
.finding:last-child { margin-bottom: 0; } .finding .said { font-weight: 600; }
.finding.fail { border-color: var(--fail); } .finding.warn { border-color: var(--warn); }
  .finding.unknown { border-color: var(--unknown); }
.mark { display: inline-block; min-width: 4.5em; font-weight: 700; }
.fail > .mark, td.fail { color: var(--fail); } .warn > .mark, td.warn { color: var(--warn); }
.unknown > .mark, td.unknown { color: var(--unknown); } td.pass { color: var(--pass); } td.skip,
  td.implied { color: var(--skip); }
.where, code, pre { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; font-size: .92em; }
pre { background: var(--ground); padding: 8px 10px; border-radius: 6px; overflow-x: auto; margin: 6px 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
details > summary { cursor: pointer; color: var(--soft); }
.remedy { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 4px 22px 4px 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } td.n, th.n { text-align: right; }
.grid td, .grid th { text-align: center; padding: 2px 7px; font-weight: 700; }
.grid th { writing-mode: vertical-rl; transform: rotate(180deg); font-size: .8em; padding: 7px 2px; }
.grid td.name { text-align: left; font-weight: 400; padding-left: 0; }
.grid td.fail, .grid td.unknown, .grid td.warn { background: var(--ground); border-radius: 3px; }
.lanes { font: 11px ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; max-width: none; }
.lanes text { fill: var(--ink); } .lanes text.start, .lanes text.end, .lanes text.fault { text-anchor: middle; }
.lanes rect { fill: var(--soft); } .lanes rect.open { opacity: .35; } .lanes circle { fill: var(--warn); }
.lanes .cause rect, .lanes .cause circle, .lanes .cause text, .lanes text.fault { fill: var(--fail); }
.lanes line { stroke: var(--line); } .lanes line.fault { stroke: var(--fail); stroke-dasharray: 3 2; }
.pick { position: absolute; opacity: 0; } .langs { float: right; color: var(--soft); }
.langs label { cursor: pointer; padding: 2px 6px; border-radius: 4px; }
#en:checked ~ * .zh, #zh:checked ~ * .en { display: none; }
#en:checked ~ header label[for=en], #zh:checked ~ header label[for=zh] { background: var(--line); color: var(--ink); }
.pick:focus-visible ~ header .langs { outline: 2px solid var(--unknown); }
footer { color: var(--soft); max-width: 1100px; margin: 0 auto; padding: 0 20px 30px; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --ground: #fff; --fail: #8c1d18; --warn: #6b4700;
    --unknown: #3d3188; --pass: #0f5a34; --skip: #555; }
  body { font-size: 11px; } main, header, footer { max-width: none; padding: 0; } header { padding-top: 0; }
  section { border: 0; padding: 0; } h2 { border-bottom: 1px solid var(--line); break-after: avoid; }
  .finding, tr { break-inside: avoid; } thead { display: table-header-group; } .langs { display: none; }
  .simulated { color: #000; background: #fff; border: 2px solid #000; } pre { border: 1px solid var(--line); }
  details > summary { list-style: none; } details::details-content { content-visibility: visible; height: auto; }
  .scroll { overflow: visible; }
}
@media (max-width: 600px) { main, header { padding: 0 10px; } .langs { float: none; } section { padding: 12px; } }
"""

PAGE = """
{%- macro t(en, zh) -%}<span class="en" lang="en">{{ en }}</span><span class="zh" lang="zh">{{ zh }}</span>
{%- endmacro -%}
{%- macro both(pair) -%}{%- if pair.en == pair.zh -%}{{ pair.en }}{%- else -%}
{{ t(pair.en, pair.zh) }}{%- endif -%}{%- endmacro -%}
<!DOCTYPE html>
<html lang="{{ lang }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>rankready {{ verb }} · {{ cluster }}</title>
<style>{{ style }}</style>
</head>
<body>
<input class="pick" type="radio" name="lang" id="en"{% if lang == "en" %} checked{% endif %}>
<input class="pick" type="radio" name="lang" id="zh"{% if lang == "zh" %} checked{% endif %}>
{% if simulated %}<div class="simulated" role="alert">{{ both(words.simulated) }}</div>{% endif %}
<header>
<div class="langs"><label for="en">English</label><label for="zh">中文</label></div>
<h1><span class="state s{{ exit }}">{{ both(state) }}</span> · rankready {{ verb }} · {{ cluster }}</h1>
<p class="meta">{% if sizes.en %}{{ both(sizes) }} · {% endif -%}
{{ started }} · {{ both(duration) }} · {{ t("exit", "退出码") }} {{ exit }}</p>
</header>
<main>
{% if counts.en or coverage.en or next.en %}<section>
{% if counts.en %}<p>{{ both(counts) }}</p>{% endif %}
{% if coverage.en %}<p>{{ both(coverage) }}</p>{% endif %}
{% if next.en %}<p>{{ t("Next: ", "处理：") }}<code>{{ both(next) }}</code></p>{% endif %}
</section>{% endif %}
{% if cause.en %}<section><h2>{{ t("Cause", "原因") }}</h2>
<pre class="en">{{ cause.en }}</pre><pre class="zh">{{ cause.zh }}</pre></section>{% endif %}
{% if lanes.lanes %}<section><h2>{{ t("Ranks in time", "各 rank 时间线") }}</h2>
<div class="scroll"><svg class="lanes" viewBox="0 0 {{ lanes.width }} {{ lanes.height }}" width="{{ lanes.width }}"
 height="{{ lanes.height }}" role="img" aria-label="ranks in time">
{% for m in lanes.marks %}<line class="{{ m.class }}" x1="{{ m.x }}" x2="{{ m.x }}" y1="16" y2="{{ lanes.height }}"/>
<text class="{{ m.class }}" x="{{ m.x }}" y="{{ 24 if m.class == "fault" else 12 }}">{{ m.text }}</text>
{% endfor %}{% for l in lanes.lanes %}<g class="{{ l.class }}"><title>{{ l.whole }}</title>
<text x="4" y="{{ l.y + 11 }}">{{ l.label }}</text>
<rect x="{{ l.x1 }}" y="{{ l.y + 4 }}" width="{{ (l.x2 - l.x1)|round(1) }}" height="6"{% if not l.ended %} class="open"
{%- endif %}/>{% if l.sign is not none %}<circle cx="{{ l.sign }}" cy="{{ l.y + 7 }}" r="4"/>{% endif %}</g>
{% endfor %}</svg></div>{% if lanes.lanes_left %}<p>{{ t("and more:", "另有：") }} {{ lanes.lanes_left }}</p>{% endif %}
<p class="meta">{{ t("bar: start to end (pale: no end on record); dot: first sign; line: the first fault",
"条：启动至结束（浅色：无结束记录）；点：首个迹象；竖线：首个故障") }}</p>
<details><summary>{{ t("As a table", "表格") }}</summary><div class="scroll"><table>
<thead><tr><th>rank</th><th>{{ t("server", "服务器") }}</th><th>{{ t("first sign", "首个迹象") }}</th><th></th>
<th>{{ t("ended", "结束") }}</th><th></th></tr></thead>
{% for r in lanes.rows %}<tr{% if r.cause %} class="fail"{% endif %}><td>{{ r.ranks }}</td>
<td class="where">{{ r.server }}</td><td>{{ r.sign }}</td><td>{{ both(r.what) }}</td><td>{{ r.ended }}</td>
<td>{{ both(r.end) }}</td></tr>
{% endfor %}</table></div></details></section>{% endif %}
{% if job.en or ranks %}<section><h2>{{ t("Job", "作业") }}</h2>
{% if job.en %}<pre class="en">{{ job.en }}</pre><pre class="zh">{{ job.zh }}</pre>{% endif %}
{% if ranks %}<details{% if ranks_bad %} open{% endif %}><summary>{{ t("Ranks", "各 rank") }}</summary>
<div class="scroll"><table>
<thead><tr><th class="n">rank</th><th>{{ t("server", "服务器") }}</th><th class="n">local_rank</th>
<th>{{ t("ended", "结束") }}</th></tr></thead>
{% for r in ranks %}<tr><td class="n">{{ r.rank }}</td><td class="where">{{ r.server }}</td>
<td class="n">{{ r.local_rank }}</td><td class="{{ r.outcome }}">{{ r.ending }}</td></tr>
{% endfor %}</table></div>{% if ranks_left %}<p>{{ t("and more:", "另有：") }} {{ ranks_left }}</p>{% endif %}
</details>{% endif %}</section>{% endif %}
{% if findings %}<section><h2>{{ t("Findings", "发现的问题") }}</h2>
{% for f in findings %}<div class="finding {{ f.outcome }}">
<span class="mark">{{ both(f.mark) }}</span> <code>{{ f.codes }}</code> <span class="where">{{ f.where }}</span>
{%- if f.count > 1 %} ({{ f.count }}){% endif %}
<div class="said">{{ both(f.message) }}{% if f.varied %}{{ t(", and alike", " 等") }}{% endif %}</div>
{% if f.remedy.en %}<div class="remedy">{{ t("Next: ", "处理：") }}<code>{{ both(f.remedy) }}</code></div>{% endif %}
{% if f.evidence %}<details><summary>{{ t("Evidence", "证据") }}</summary>
{% for e in f.evidence %}<pre>$ {{ e.command }}{% if e.at %}   # {{ e.at }}{% endif %}
{% for line in e.lines %}{{ line }}
{% endfor %}</pre>{% endfor %}</details>{% endif %}
{% if f.places %}<details><summary>{{ t("Places", "位置") }}</summary><div class="where">{{ f.places }}</div></details>
{% endif %}
</div>{% endfor %}</section>{% endif %}
{% if problems %}<section><h2>{{ t("What forbids the plan", "规划无法执行的原因") }}</h2>
{% for p in problems %}<div class="finding fail"><code>{{ p.rule }}</code> <span class="where">{{ p.where }}</span>
<div>{{ both(p.message) }}</div></div>{% endfor %}</section>{% endif %}
{% if moves %}<section><h2>{{ t("Cables to move", "要移动的线缆") }}</h2><ol>
{% for m in moves %}<li>{{ both(m) }}</li>
{% endfor %}</ol></section>{% endif %}
{% if cables %}<section><h2>{{ t("Cables", "线缆") }}</h2>
<details{% if cables_wrong %} open{% endif %}><summary>{{ t("Ports and devices", "端口与设备") }}</summary>
<div class="scroll"><table><thead><tr><th>{{ t("switch", "交换机") }}</th><th>{{ t("port", "端口") }}</th>
<th>{{ t("device", "设备") }}</th><th class="n">PVID</th><th>{{ t("wrong", "异常") }}</th></tr></thead>
{% for c in cables %}<tr><td class="where">{{ c.leaf }}</td><td class="where">{{ c.port or c.reason }}</td>
<td class="where">{{ c.device }}</td><td class="n">{{ c.pvid }}</td><td class="fail">{{ c.codes }}</td></tr>
{% endfor %}</table></div>{% if cables_left %}<p>{{ t("and more:", "另有：") }} {{ cables_left }}</p>{% endif %}
</details></section>{% endif %}
{% if suspects %}<section><h2>{{ t("Suspects", "疑点") }}</h2><div class="scroll"><table>
<thead><tr><th>{{ t("places", "位置") }}</th><th>{{ t("kind", "类型") }}</th><th>{{ t("certainty", "把握") }}</th>
<th>{{ t("witnesses", "见证") }}</th><th>{{ t("next test", "下一步测试") }}</th></tr></thead>
{% for s in suspects %}<tr><td class="where">{{ s.places }}</td><td>{{ s.kind }}</td><td>{{ s.certainty }}</td>
<td>{{ s.witnesses }}</td><td>{{ both(s.next_test) }}</td></tr>
{% endfor %}</table></div></section>{% endif %}
{% if remarks.en %}<section><h2>{{ t("Remarks", "说明") }}</h2>
<pre class="en">{{ remarks.en }}</pre><pre class="zh">{{ remarks.zh }}</pre></section>{% endif %}
{% if steps %}<section><h2>{{ t("Steps", "步骤") }}</h2><table>
{% for s in steps %}<tr><td class="{{ s.outcome }}">{{ both(s.mark) }}</td><td>{{ s.verb }}</td>
<td class="n">{{ both(s.duration) }}</td><td class="n">{{ s.note }}</td></tr>
{% endfor %}</table></section>{% endif %}
{% if changes %}<section><h2>{{ t("Changes", "变更") }}</h2><div class="scroll"><table>
<thead><tr><th></th><th>{{ t("place", "位置") }}</th><th>{{ t("what", "项目") }}</th><th>{{ t("seen", "现状") }}</th>
<th>{{ t("planned", "规划") }}</th><th>{{ t("why", "原因") }}</th></tr></thead>
{% for c in changes %}<tr><td>{{ c.sign }}</td><td class="where">{{ c.place }}</td><td>{{ c.what }}</td>
<td class="where">{{ both(c.before) }}</td><td class="where">{{ c.after }}</td><td>{{ both(c.reason) }}</td></tr>
{% endfor %}</table></div>{% if changes_left %}<p>{{ t("and more:", "另有：") }} {{ changes_left }}</p>
{% endif %}</section>{% endif %}
{% if tally %}<section><h2>{{ t("Verdicts by check", "各检查的结论") }}</h2><div class="scroll"><table>
<thead><tr><th>{{ t("check", "检查") }}</th>{% for o in outcomes %}<th class="n">{{ both(o.name) }}</th>{% endfor %}
</tr></thead>
{% for row in tally %}<tr><td><code>{{ row.code }}</code></td>
{% for o in outcomes %}<td class="n{% if row[o.key] %} {{ o.key }}{% endif %}">{{ row[o.key] }}</td>{% endfor %}</tr>
{% endfor %}</table></div></section>{% endif %}
{% if grid %}<section><h2>{{ t("Verdicts by server", "各服务器的结论") }}</h2><div class="scroll"><table class="grid">
<thead><tr><th></th>{% for code in codes %}<th>{{ code }}</th>{% endfor %}</tr></thead>
{% for row in grid %}<tr><td class="name where">{{ row.name }}</td>
{% for cell in row.cells %}<td class="{{ cell.outcome }}">{{ cell.sign }}</td>{% endfor %}</tr>
{% endfor %}</table></div>
<p class="meta">{{ t("worst of a server and its devices: F fault, ! warning, ? unknown, · as planned, "
"> follows from another, - skipped",
"服务器及其设备中最差的结论：F 故障，! 警告，? 未知，· 正常，> 由其他问题引起，- 跳过") }}</p></section>{% endif %}
</main>
<footer>{{ t("Drawn from the record of one run; knows no more than that record.",
"由一次运行的记录生成，内容不超出该记录。") }}</footer>
</body>
</html>
"""
