"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { byId("status").textContent = text; };
  const tabs = ["dot", "line", "product", "figure"];
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };

  // The program runs in a worker. ask returns a promise of the answer to a question.
  let worker, asked = 0;
  const waiting = new Map();

  function post(message) {
    return new Promise((done, failed) => {
      waiting.set(++asked, { done, failed });
      worker.postMessage({ ...message, id: asked });
    });
  }

  // Ended says why the program answers no more.
  class Ended extends Error {}
  const unlessEnded = (e) => {
    if (!(e instanceof Ended)) throw e;
    say("The program has ended: " + e.message + ". Reload the page.");
  };

  async function ask(question) { return JSON.parse(await post({ question: JSON.stringify(question) })); }

  async function load() {
    const text = byId("glue").textContent + byId("worker").textContent;
    worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      const { done, failed } = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.failed === undefined) done(data.answer); else failed(new Ended(data.failed));
    };
    worker.onerror = (e) => {
      for (const { failed } of waiting.values()) failed(new Ended(e.message || "it does not let a page start a worker"));
      waiting.clear();
    };
    return post({ program: byId("program").textContent.trim() });
  }

  const list = (text) => text.split(/[\s,;]+/).filter((w) => w !== "");
  const form = (tab) => byId(tab).querySelector("form");
  const field = (tab, name) => form(tab).elements.namedItem(name);
  const fields = (tab) => Object.fromEntries([...new FormData(form(tab))].filter(([name]) => !field(tab, name).closest("[hidden]:not(section)")));
  const first = "hopper-wgmma-binary16-binary32";
  let device = first; // whose trace is shown
  let current = "dot";
  let factors = []; // formats of x and y, with the numbers that a scale covers

  // Numbers to show: not more digits than a reader wants, all of them in the title.
  function short(text, digits) {
    const x = Number(text);
    if (text === "" || !isFinite(x)) return text || "–";
    const rounded = Number(x.toPrecision(digits || 9)), size = Math.abs(rounded);
    if (size === 0 || size >= 1e-3 && size < 1e9) return String(rounded).replace("-", "−");
    const [m, e] = rounded.toExponential().split("e");
    return m.replace("-", "−") + "·10" + raised(Number(e));
  }
  const raised = (n) => String(n).replace(/./g, (c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
  const minus = (text) => text.replace(/(^|[^\w.])-(?=[\d.])/g, "$1−");

  // scrolled returns a box for what may be wider than the page, which the keyboard can scroll.
  function scrolled(label, node) {
    const box = make("div", undefined, "scroll");
    box.tabIndex = 0; box.setAttribute("role", "region"); box.setAttribute("aria-label", label);
    box.append(node);
    return box;
  }

  function table(caption, headers, rows) {
    const t = make("table");
    t.append(make("caption", caption));
    const head = make("tr");
    for (const [text, name] of headers) { const c = make("th", text, name); c.scope = "col"; head.append(c); }
    t.createTHead().append(head);
    const body = t.createTBody();
    for (const r of rows) {
      const line = make("tr", undefined, r.here ? "here" : "");
      for (const cell of r.cells) {
        const c = make("td", undefined, cell.name || "");
        if (cell.node) c.append(cell.node); else c.textContent = cell.text;
        if (cell.title) c.title = cell.title;
        line.append(c);
      }
      body.append(line);
    }
    return scrolled(caption, t);
  }

  const letter = (n) => n < 0 ? "–" : n < 26 ? String.fromCharCode(65 + n) : String(n + 1);
  const count = (n, one, many) => n + " " + (n === 1 ? one : many);
  const finding = (tab, text) => { byId(tab).querySelector(".finding").textContent = text; };
  const answerOf = (tab) => byId(tab).querySelector(".answer");

  // off returns a relative error in unit roundoffs, or in per cent where it is large.
  function off(r, a) {
    if (r.units === "") return "–";
    return Number(r.units) < 1000 ? short(r.units, 3) + " u" : short(String(100 * Math.abs(Number(r.error) / Number(a.exact))), 3) + " %";
  }

  // agreement returns a table with a row for every different result, and who has it.
  function agreement(a) {
    const rows = [];
    for (let g = 0; g < a.groups; g++) {
      const same = a.rows.filter((r) => r.group === g), who = new Map();
      for (const r of same) who.set(r.format, (who.get(r.format) || new Set()).add(r.architecture));
      rows.push({ cells: [{ text: letter(g) }, { text: short(same[0].result.value), name: "n mono", title: same[0].result.value },
        { text: off(same[0], a), name: "n", title: "error " + same[0].error },
        { text: [...who].map(([format, names]) => format + ": " + [...names].join(", ")).join("; "), name: "why" }] });
    }
    return table("Who agrees with whom", [["Answer"], ["Result", "n"], ["Error", "n"], ["Who, by the format of the result"]], rows);
  }

  function showDot(q, a) {
    const held = document.activeElement && document.activeElement.dataset.device;
    const rows = a.rows.map((r) => {
      const b = make("button", r.device, "link");
      b.type = "button";
      b.dataset.device = r.device;
      b.setAttribute("aria-pressed", String(r.device === device));
      b.addEventListener("click", () => { device = r.device; update(); });
      return { here: r.device === device, cells: [
        { node: b, title: r.instruction }, { text: letter(r.group) },
        r.refused ? { text: "c: " + r.refused, name: "why" } : { text: short(r.result.value), name: "n mono", title: r.result.value + " = " + r.result.hex },
        { text: r.result.bits, name: "mono" }, { text: off(r, a), name: "n", title: "error " + r.error }] };
    });
    finding("dot", "Exact: " + (short(a.exact, 12) || "not a finite number") + ". " + count(a.rows.length, "instruction", "instructions") + ", " +
      count(a.groups, "answer.", "different answers."));
    answerOf("dot").replaceChildren(agreement(a),
      table("Every instruction; choose one to see what it cuts off", [["Instruction"], ["Answer"], ["Result", "n"], ["Bits"], ["Error", "n"]], rows));
    if (held) answerOf("dot").querySelector('[data-device="' + held + '"]')?.focus();
    showTrace(a.trace);
  }

  // bitsOf draws the bits of a term: zeros before the first one pale, what is not kept shaded.
  function bitsOf(t) {
    const box = make("span", undefined, "bits");
    const lead = Math.max(0, t.bits.indexOf("1")), kept = Math.max(t.kept, 0);
    const part = (from, to, name) => { if (from < to) box.append(make("span", t.bits.slice(from, to), name)); };
    part(0, Math.min(lead, kept), "zero");
    part(Math.min(lead, kept), kept, "kept");
    part(kept, t.bits.length, "lost");
    if (t.more) box.append("…");
    return box;
  }

  // ruler returns a line that names the first column and the last that is kept.
  function ruler(b) {
    const left = "2" + raised(b.top);
    if (b.last > b.top) return left;
    const right = "2" + raised(b.last) + "┐";
    const room = b.top - b.last + 1;
    return left.length + right.length < room ? left + " ".repeat(room - left.length - right.length) + right : left + " … " + right;
  }

  function showTrace(trace) {
    const out = byId("dot").querySelector(".trace");
    out.replaceChildren();
    if (!trace) return;
    out.append(make("h3", "What " + trace.device + " keeps and cuts off"),
      make("p", "Every term of the sum in binary, aligned. Shaded bits are cut off; those of the sum are rounded away.", "hint"));
    for (const b of trace.blocks) {
      const line = (name, t) => ({ cells: [{ text: name }, { text: short(t.value, 8), name: "n mono", title: t.value }, { text: t.sign },
        { node: bitsOf(t) }, { text: t.lost ? short(t.lost, 6) : "", name: "n mono", title: t.lost || "" }] });
      const rows = b.terms.map((t) => line(t.name, t));
      const head = { cells: [{ text: "" }, { text: "" }, { text: "" }, { text: ruler(b), name: "bits" }, { text: "" }] };
      const caption = "Products from " + b.start + " on" + (b.last <= b.top ? ": bits below 2" + raised(b.last) + " are cut off" : ": nothing is cut off before the sum is rounded");
      out.append(table(caption, [["Term"], ["Value", "n"], ["±"], ["Bits"], ["Cut off", "n"]],
        [head, ...rows, line("sum of what is kept", b.sum), line("rounded", b.result)]));
    }
    if (trace.more) out.append(make("p", "… and " + count(trace.more, "more block", "more blocks") + "."));
  }

  const put = (parent, tag, attributes, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    parent.append(e);
    return e;
  };

  // picture returns an empty drawing as wide as the page, of at most 720 px.
  function picture(height, label) {
    const box = make("figure", undefined, "picture");
    const width = Math.min(720, byId("main").clientWidth);
    const svg = put(box, "svg", { viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": label });
    return { box, svg, width, height };
  }

  function numberLine(a) {
    const values = a.numbers.map((n) => Number(n.value)), at = Number(a.at);
    const { box, svg, width } = picture(84, "Number line from " + a.numbers[0].value + " to " + a.numbers.at(-1).value);
    const lo = Math.min(...values), hi = Math.max(...values), x = (v) => 24 + (v - lo) / (hi - lo || 1) * (width - 48);
    put(svg, "path", { d: "M8 48H" + (width - 8), class: "curve" });
    for (const [i, v] of values.entries()) put(svg, "path", { d: "M" + x(v) + " 40v16", class: "curve" + (a.numbers[i].bits === a.rounded.bits ? " curve2 solid" : "") });
    if (at >= lo && at <= hi) {
      put(svg, "path", { d: "M" + x(at) + " 36l-5 -10h10z", class: "mark" });
      put(svg, "text", { x: Math.min(Math.max(x(at), 40), width - 40), y: 18, "text-anchor": "middle" }, short(a.at, 8));
    }
    put(svg, "text", { x: 8, y: 76 }, short(a.numbers[0].value, 6));
    put(svg, "text", { x: width - 8, y: 76, "text-anchor": "end" }, short(a.numbers.at(-1).value, 6));
    return box;
  }

  function showLine(q, a) {
    const rows = a.numbers.map((n) => ({ here: n.bits === a.rounded.bits, cells: [
      { text: minus(n.value), name: "mono" }, { text: n.hex, name: "mono" }, { text: n.bits, name: "mono" }] }));
    finding("line", minus(a.at) + " becomes " + minus(a.rounded.value) + (a.error_in_u ? ", an error of " + short(a.error_in_u, 4) + " u." : ".") +
      " u = " + short(a.u, 6) + ", spacing here " + short(a.spacing, 6) + ", largest " + short(a.largest.value) + ", smallest positive " + short(a.least.value) + ".");
    answerOf("line").replaceChildren(numberLine(a),
      table("Neighbouring numbers; the marked one is the nearest", [["Value"], ["Hexadecimal"], ["Bits"]], rows));
  }

  const named = { observed: "error", dbea: "DBEA, deterministic", vibea: "VIBEA, probabilistic" };

  // decades returns the powers of ten around the values of curves.
  function decades(curves) {
    const all = curves.flatMap((c) => c.values).filter((v) => v > 0);
    const lo = Math.floor(Math.log10(Math.min(...all)));
    return [lo, Math.max(lo + 1, Math.ceil(Math.log10(Math.max(...all))))];
  }

  // plot draws empirical distributions over a logarithmic axis from 10^lo to 10^hi.
  function plot(title, curves, [lo, hi]) {
    const height = 280, left = 52, right = 22, top = 12, bottom = 46;
    const { box, svg, width } = picture(height, title + ": distribution of the relative error and of two bounds, " +
      curves.map((c) => (named[c.name] || c.name) + " up to " + short(String(c.values.at(-1)), 3)).join("; "));
    const x = (v) => left + (Math.log10(Math.max(v, 10 ** lo)) - lo) / (hi - lo) * (width - left - right);
    const y = (share) => height - bottom - share * (height - top - bottom);
    for (let e = lo; e <= hi; e += Math.max(1, Math.ceil((hi - lo) * 44 / (width - left - right)))) {
      put(svg, "path", { d: "M" + x(10 ** e) + " " + top + "V" + (height - bottom), class: "grid" });
      const label = put(svg, "text", { x: x(10 ** e), y: height - bottom + 18, "text-anchor": "middle" }, "10");
      put(label, "tspan", { dy: "-0.5em", "font-size": "10" }, String(e).replace("-", "−"));
    }
    for (const share of [0, 0.5, 1]) {
      put(svg, "path", { d: "M" + left + " " + y(share) + "H" + (width - right), class: "grid" });
      put(svg, "text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, String(share));
    }
    put(svg, "text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, "relative error |d̂ − d| / |d|");
    put(svg, "text", { x: 14, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: "rotate(-90 14 " + (top + height - bottom) / 2 + ")" }, "share of outputs");
    curves.forEach((c, i) => {
      let d = "M" + left + " " + y(0);
      c.values.forEach((v, n) => { d += "H" + x(v) + "V" + y((n + 1) / c.values.length); });
      put(svg, "path", { d: d + "H" + (width - right), class: "curve curve" + i });
    });
    const key = make("figcaption", title + ": ");
    curves.forEach((c, i) => {
      const entry = make("span", undefined, "key"), sample = put(entry, "svg", { width: 28, height: 10, "aria-hidden": "true" });
      put(sample, "path", { d: "M0 5H28", class: "curve curve" + i });
      entry.append(" " + (named[c.name] || c.name));
      key.append(entry, " ");
    });
    box.append(key);
    return box;
  }

  function showProduct(q, a) {
    const rows = a.bounds.map((b) => ({ here: false, cells: [
      { text: b.name }, { text: short(b.constant, 3), name: "n" }, { text: b.holds ? "yes" : "no" }, { text: b.why, name: "why" }] }));
    finding("product", "Largest |error|/(|A||B|) " + short(a.largest, 3) + ", median " + short(a.median, 3) + "; largest relative error " + short(a.relative, 3) + ".");
    answerOf("product").replaceChildren(plot(q.device, a.curves, decades(a.curves)),
      table("Bounds on |error|/(|A||B|), the valid ones first", [["Bound"], ["Constant", "n"], ["Valid here"], ["Why"]], rows));
  }

  // Figure 6. The axis holds all that has been drawn since the last rest, so that a hand on a slider moves curves and not
  // the axis.
  const confidences = [0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-8, 1 - 1e-10, 1 - 1e-12, 1 - 1e-14];
  const paper = "paper-f32", outputs = { m: 1024, n: 8 };
  let axis = null, axisOf = "", shown = []; // the last answer of either machine, with its question

  // showFigure shows the last answers of the paper's machine and of the other one. While a hand moves a slider they may
  // be of two questions.
  function showFigure() {
    const [{ q, a }, other] = shown;
    const of = other.q.device + q.represented;
    if (axisOf !== of) { axis = null; axisOf = of; }
    const drawn = decades([...a.curves, ...other.a.curves]);
    axis = axis ? [Math.min(axis[0], drawn[0]), Math.max(axis[1], drawn[1])] : drawn;
    const end = (name) => a.curves.find((c) => c.name === name)?.values.at(-1);
    const times = (name) => end(name) === undefined ? "sets no limit" : "is " + short(String(end(name) / end("observed")), 3) + " times as large";
    finding("figure", "Paper's machine, K = " + q.k + ", entries ~ " + minus(q.distribution) + ": the largest error is " + short(String(end("observed")), 3) +
      "; its deterministic bound " + times("dbea") + ", the probabilistic one " + times("vibea") + ".");
    const title = (name, s) => name + ", K = " + s.q.k;
    answerOf("figure").replaceChildren(plot(title("paper's machine", shown[0]), a.curves, axis), plot(title(other.q.device, other), other.a.curves, axis),
      make("p", "The first " + a.outputs + " of 1024 × 8 outputs, for all of which together the bounds hold. Beside the paper's machine: the tightest bounds that are valid there.", "hint"));
  }

  // answerFigure draws at once what few outputs tell, and then more of them while nobody moves a slider. The paper's
  // machine comes with its own bounds, the other one with the tightest that are valid there.
  async function answerFigure(q) {
    let rows = Math.max(4, Math.min(outputs.m, 2 ** 17 / (outputs.n * q.k) | 0));
    for (;;) {
      for (const [i, machine] of [{ device: paper, draw: ["dbea", "vibea"] }, { device: q.device }].entries()) {
        const question = { ...q, ...machine, rows }, a = await ask(question);
        if (a.error) return a;
        shown[i] = { q: question, a };
        if (shown[0] && shown[1] && shown[1].q.device === q.device) show("figure", q, a);
      }
      if (again) return {};
      if (rows === outputs.m || 4 * rows * outputs.n * q.k > 2 ** 22) {
        axis = null;
        show("figure", q, {});
        return {};
      }
      rows = Math.min(outputs.m, 4 * rows);
      await new Promise((done) => setTimeout(done, 60)); // a hand that moves gets its turn
      if (again) return {};
    }
  }

  const scales = (f, name) => f[name] === undefined ? [] : list(f[name]);
  const questions = {
    dot: (f) => ({ ask: "dot", format: f.format, x: list(f.x), y: list(f.y), scale_x: scales(f, "scale_x"), scale_y: scales(f, "scale_y"), c: f.c.trim(), device }),
    line: (f) => ({ ask: "line", format: f.format, at: f.at, each: Number(f.each) }),
    product: (f) => ({ ask: "product", device: f.device, m: 16, n: 16, k: 2 ** Number(f.k), distribution: f.distribution,
      seed: Number(f.seed), confidence: Number(f.confidence) }),
    figure: (f) => ({ ask: "product", ...outputs, device: f.device, k: 4 * Math.round(2 ** (Number(f.k) / 4) / 4), distribution: "U(" + Number(f.law) / 10 + ",1)",
      seed: Number(f.seed), confidence: confidences[f.confidence], represented: f.represented === "yes" }),
  };
  const shows = { dot: showDot, line: showLine, product: showProduct, figure: showFigure };

  // show shows an answer, or what is wrong with the question.
  function show(tab, q, a) {
    const wrong = byId(tab).querySelector(".error");
    wrong.hidden = !a.error;
    wrong.textContent = a.error || "";
    byId(tab).classList.toggle("stale", Boolean(a.error));
    if (!a.error) shows[tab](q, a);
  }

  async function answer() {
    const tab = current, q = questions[tab](fields(tab));
    let a = tab === "figure" ? await answerFigure(q) : await ask(q);
    if (tab === "dot" && !a.error && !device) { // a format's first instruction, if none was chosen
      device = a.rows.find((r) => !r.refused).device;
      a = await ask({ ...q, device });
      keepAddress();
    }
    if (tab === current && (tab !== "figure" || a.error)) show(tab, q, a);
  }

  // update answers the question that the page has now. One is answered at a time; of those that are asked meanwhile
  // only the last.
  let busy = false, again = false;
  async function update() {
    keepAddress();
    showControls();
    again = true;
    if (busy) return;
    busy = true;
    byId("main").setAttribute("aria-busy", "true");
    try {
      while (again) {
        again = false;
        await answer();
      }
    } catch (e) {
      unlessEnded(e);
    } finally {
      busy = false;
      byId("main").setAttribute("aria-busy", "false");
    }
  }

  // showControls shows what sliders are set to, and the fields that the format has.
  function showControls() {
    const set = (tab, name, text) => {
      field(tab, name).parentElement.querySelector("output").textContent = text;
      field(tab, name).setAttribute("aria-valuetext", text);
    };
    set("product", "k", "= " + questions.product(fields("product")).k);
    const q = questions.figure(fields("figure"));
    set("figure", "k", "= " + q.k);
    set("figure", "law", "~ " + minus(q.distribution));
    const missing = 1 - q.confidence;
    set("figure", "confidence", missing > 1e-5 ? short(String(100 * q.confidence), 6) + " %" : "1 − " + short(missing.toExponential(0), 1));
    const { block } = factors.find((f) => f.name === field("dot", "format").value) || { block: 0 };
    for (const e of form("dot").querySelectorAll("[data-scales]")) e.hidden = !block;
    form("dot").querySelector("span[data-scales]").textContent = block ? "A scale for every " + block + " numbers; without any they are 1." : "";
  }

  // address returns the address of what the page has now.
  function address() {
    const state = new URLSearchParams({ ask: current, ...fields(current) });
    if (current === "dot" && device) state.set("device", device);
    return new URL("#" + state, location.href).href;
  }

  // keepAddress keeps the address when the hand rests: browsers refuse to change it a hundred times in a short while.
  let resting;
  function keepAddress() {
    clearTimeout(resting);
    resting = setTimeout(keepAddressNow, 300);
  }

  function keepAddressNow() {
    clearTimeout(resting);
    try { history.replaceState(null, "", address()); } catch (e) { /* the next one will do */ }
  }

  function open(tab) {
    current = tab;
    for (const t of tabs) byId(t).hidden = t !== tab;
    for (const a of document.querySelectorAll("nav a")) {
      if (a.dataset.tab === tab) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    }
  }

  // restore takes the state from the address, and says which part of it is none.
  function restore() {
    const hash = location.hash.slice(1), wrong = [];
    byId("address").hidden = true;
    if (hash === "" || tabs.includes(hash)) return open(hash || current);
    const state = new URLSearchParams(hash), tab = state.get("ask");
    if (tabs.includes(tab)) {
      form(tab).reset();
      if (tab === "dot") device = state.get("device") || "";
      for (const [key, value] of state) {
        const f = field(tab, key);
        if (key === "ask" || tab === "dot" && key === "device") continue;
        if (!f) { wrong.push(key + " is nothing that this page knows"); continue; }
        const before = f.value;
        f.value = value;
        if (f.type !== "textarea" && f.value !== value) {
          f.value = before;
          wrong.push(key + " cannot be “" + value + "”");
        }
      }
    } else {
      wrong.push(tab === null ? "ask is missing" : "ask cannot be “" + tab + "”");
    }
    byId("address").textContent = "In the address, " + wrong.join("; ") + ".";
    byId("address").hidden = wrong.length === 0;
    open(tabs.includes(tab) ? tab : "dot");
  }

  async function copyOf(kind) {
    if (kind === "link") return address();
    const a = await ask({ ...questions.dot(fields("dot")), ask: "copy", as: kind });
    return a.error || a.text;
  }

  // copy puts a text into the clipboard or, where that is not allowed, into a box.
  async function copy(kind) {
    const text = await copyOf(kind);
    byId("copied")?.remove();
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch (e) {
      const box = make("textarea", text);
      box.id = "copied";
      box.rows = 8;
      box.setAttribute("aria-label", "text to copy");
      byId("dot").querySelector(".tools").append(box);
      box.select();
      say("Press Ctrl+C to copy.");
    }
  }

  function choices(select, names, chosen) {
    select.replaceChildren(...names.map((n) => {
      const o = make("option", n);
      o.defaultSelected = n === chosen;
      return o;
    }));
  }

  async function ready() {
    factors = await ask({ ask: "factors" });
    choices(field("dot", "format"), factors.map((f) => f.name), "binary16");
    choices(field("line", "format"), factors.filter((f) => !f.block).map((f) => f.name), "binary16");
    const devices = await ask({ ask: "devices" });
    for (const tab of ["product", "figure"]) choices(field(tab, "device"), devices, first);
    for (const t of tabs) {
      form(t).addEventListener("input", update);
      form(t).addEventListener("submit", (e) => { e.preventDefault(); update(); });
    }
    field("dot", "format").addEventListener("input", () => { device = ""; }, true);
    for (const b of document.querySelectorAll("[data-copy]")) b.addEventListener("click", () => copy(b.dataset.copy).catch(unlessEnded));
    for (const a of document.querySelectorAll("nav a")) a.addEventListener("click", keepAddressNow); // to come back to
    addEventListener("hashchange", () => { restore(); update(); });
    restore();
    say("");
    await update();
    window.ask = ask; // for tests
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }

  load().then(ready).catch((e) => say("The program cannot run in this browser: " + e.message));
})();
