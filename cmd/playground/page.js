"use strict";
(function () {
  const byId = (id) => document.getElementById(id);
  const say = (text) => { byId("status").textContent = text; };
  const tabs = ["dot", "line", "product"];
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };

  function ask(question) { return JSON.parse(window.roundoff(JSON.stringify(question))); }

  const list = (text) => text.split(/[\s,;]+/).filter((w) => w !== "");
  const form = (tab) => byId(tab).querySelector("form");
  const fields = (tab) => Object.fromEntries(new FormData(form(tab)));
  let device = ""; // whose trace is shown
  let current = "dot";

  // Numbers to show: not more digits than a reader wants, all of them in the title.
  function short(text, digits) {
    const x = Number(text);
    if (text === "" || !isFinite(x)) return text || "–";
    const rounded = Number(x.toPrecision(digits || 9)), size = Math.abs(rounded);
    if (size === 0 || size >= 1e-3 && size < 1e9) return String(rounded).replace("-", "−");
    const [m, e] = rounded.toExponential().split("e");
    return m.replace("-", "−") + "·10" + e.replace("+", "").replace(/./g, (c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
  }

  function table(caption, headers, rows) {
    const t = make("table");
    t.append(make("caption", caption));
    const head = make("tr");
    for (const h of headers) { const c = make("th", h); c.scope = "col"; head.append(c); }
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
    const box = make("div", undefined, "scroll");
    box.tabIndex = 0; box.setAttribute("role", "region"); box.setAttribute("aria-label", caption);
    box.append(t);
    return box;
  }

  const letter = (n) => n < 26 ? String.fromCharCode(65 + n) : String(n);

  // off returns a relative error in unit roundoffs, or in per cent where it is large.
  function off(r, a) {
    if (r.units === "") return "–";
    return Number(r.units) < 1000 ? short(r.units, 3) + " u" : short(String(100 * Math.abs(Number(r.error) / Number(a.exact))), 3) + " %";
  }

  function showDot(q, a) {
    const out = byId("dot").querySelector(".answer");
    const rows = a.rows.map((r) => {
      const b = make("button", r.device, "link");
      b.type = "button";
      b.setAttribute("aria-pressed", String(r.device === device));
      b.addEventListener("click", () => { device = r.device; update(); });
      return { here: r.device === device, cells: [
        { node: b, title: r.instruction },
        { text: short(r.result.value), name: "n mono", title: r.result.value + " = " + r.result.hex },
        { text: letter(r.group) }, { text: r.result.bits, name: "mono" }, { text: r.format, name: "wide" },
        { text: off(r, a), name: "n", title: "error " + r.error }] };
    });
    out.replaceChildren(make("p", "Exact: " + (a.exact || "not a finite number") + ". " + a.rows.length + " instructions, " +
      a.groups + (a.groups === 1 ? " answer." : " different answers.") + " Choose an instruction to see what it cuts off."),
      table("Results; the same letter is the same number", ["Instruction", "Result", "Group", "Bits", "Format", "Error"], rows));
    showTrace(a.trace);
  }

  function showTrace(trace) {
    const out = byId("dot").querySelector(".trace");
    out.replaceChildren();
    if (!trace) return;
    out.append(make("h3", "What " + trace.device + " keeps and cuts off"));
    trace.blocks.forEach((b, i) => {
      const width = Math.max(...b.terms.map((t) => t.name.length), 1);
      const box = make("div", undefined, "bits scroll");
      box.tabIndex = 0; box.setAttribute("role", "region"); box.setAttribute("aria-label", "block " + (i + 1));
      const aligned = b.last <= b.top;
      box.append("block " + (i + 1) + ": columns from 2^" + b.top + " down" + (aligned ? ", kept to 2^" + b.last : "") + "\n");
      for (const t of b.terms) {
        box.append(t.name.padEnd(width) + " " + t.sign + " ");
        box.append(make("span", t.bits.slice(0, t.kept), "kept"));
        if (t.kept < t.bits.length) box.append(make("span", t.bits.slice(t.kept), "lost"));
        if (t.lost) box.append("   loses " + short(t.lost, 6));
        box.append("\n");
      }
      box.append("sum of what is kept " + short(b.sum, 12) + ", after rounding " + short(b.result, 12));
      out.append(box);
    });
  }

  function showLine(q, a) {
    const out = byId("line").querySelector(".answer");
    const rows = a.numbers.map((n) => ({ here: n.bits === a.rounded.bits, cells: [
      { text: n.value, name: "mono" }, { text: n.hex, name: "mono" }, { text: n.bits, name: "mono" }] }));
    out.replaceChildren(
      make("p", a.at + " becomes " + a.rounded.value + (a.error_in_u ? ", an error of " + short(a.error_in_u, 4) + " u." : ".") +
        " u = " + a.u + ", spacing here " + a.spacing + ", largest " + a.largest.value + ", smallest positive " + a.least.value + "."),
      table("Neighbouring numbers; the marked one is the nearest", ["Value", "Hexadecimal", "Bits"], rows));
  }

  // plot draws empirical distributions over a logarithmic axis.
  function plot(curves) {
    const width = 640, height = 340, left = 52, right = 26, top = 12, bottom = 46;
    const all = curves.flatMap((c) => c.values).filter((v) => v > 0);
    const lo = Math.floor(Math.log10(Math.min(...all))), hi = Math.max(lo + 1, Math.ceil(Math.log10(Math.max(...all))));
    const x = (v) => left + (Math.log10(Math.max(v, 10 ** lo)) - lo) / (hi - lo) * (width - left - right);
    const y = (share) => height - bottom - share * (height - top - bottom);
    const put = (parent, tag, attributes, text) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      if (text !== undefined) e.textContent = text;
      parent.append(e);
      return e;
    };
    const box = make("figure", undefined, "picture");
    const svg = put(box, "svg", { viewBox: "0 0 " + width + " " + height, role: "img",
      "aria-label": "Distribution of the relative error and of two bounds: " + curves.map((c) => c.name + " up to " + short(String(c.values.at(-1)), 3)).join(", ") });
    for (let e = lo; e <= hi; e += Math.max(1, Math.round((hi - lo) / 8))) {
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
    const key = make("figcaption");
    curves.forEach((c, i) => { key.append(make("span", "— " + c.name, "key" + i), " "); });
    box.append(key);
    return box;
  }

  function showProduct(q, a) {
    const out = byId("product").querySelector(".answer");
    const rows = a.bounds.map((b) => ({ here: false, cells: [
      { text: b.name }, { text: short(b.constant, 3), name: "n" }, { text: b.holds ? "yes" : "no" }, { text: b.why }] }));
    out.replaceChildren(
      make("p", "Largest |error|/(|A||B|) " + short(a.largest, 3) + ", median " + short(a.median, 3) + "; largest relative error " + short(a.relative, 3) + "."),
      plot(a.curves), table("Bounds on |error|/(|A||B|), the valid ones first", ["Bound", "Constant", "Valid here", "Why"], rows));
  }

  const questions = {
    dot: (f) => ({ ask: "dot", format: f.format, x: list(f.x), y: list(f.y), c: f.c.trim(), device: device }),
    line: (f) => ({ ask: "line", format: f.format, at: f.at, each: Number(f.each) }),
    product: (f) => ({ ask: "product", device: f.device, m: 16, n: 16, k: 2 ** Number(f.k), distribution: f.distribution,
      seed: Number(f.seed), confidence: Number(f.confidence) }),
  };
  const shows = { dot: showDot, line: showLine, product: showProduct };

  function update() {
    const f = fields(current), q = questions[current](f);
    if (current === "product") form("product").querySelector("output").textContent = "K = " + q.k;
    let a = ask(q);
    if (a.error && current === "dot" && device) { device = ""; a = ask(questions.dot(f)); }
    const wrong = byId(current).querySelector(".error");
    wrong.hidden = !a.error;
    wrong.textContent = a.error || "";
    if (!a.error) shows[current](q, a);
    const state = new URLSearchParams({ ask: current, ...f });
    if (current === "dot" && device) state.set("device", device);
    history.replaceState(null, "", "#" + state);
  }

  function open(tab) {
    current = tab;
    for (const t of tabs) byId(t).hidden = t !== tab;
    for (const a of document.querySelectorAll("nav a")) {
      if (a.dataset.tab === tab) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    }
  }

  // restore takes the state from the address.
  function restore() {
    const state = new URLSearchParams(location.hash.slice(1));
    const tab = tabs.includes(state.get("ask")) ? state.get("ask") : tabs.includes(location.hash.slice(1)) ? location.hash.slice(1) : "dot";
    if (tab === "dot") device = state.get("device") || device;
    for (const [key, value] of state) {
      const field = form(tab).elements[key];
      if (field) field.value = value;
    }
    open(tab);
  }

  const copies = {
    link: () => location.href,
    go: (q, a) => "x := []float64{" + a.used.map((u) => u[0].hex).join(", ") + "}\ny := []float64{" + a.used.map((u) => u[1].hex).join(", ") +
      "}\nfor _, d := range devices.All() {\n\tif d.ScaleBlock == 0 && d.A.Name == \"" + q.format + "\" && d.B.Name == d.A.Name {\n\t\tfmt.Println(d.Name, d.Dot(x, y, " + (q.c || "0") + "))\n\t}\n}\n",
    python: (q, a) => "from fractions import Fraction\nx = [" + a.used.map((u) => "float.fromhex('" + u[0].hex + "')").join(", ") + "]\ny = [" +
      a.used.map((u) => "float.fromhex('" + u[1].hex + "')").join(", ") + "]\nexact = sum((Fraction(a) * Fraction(b) for a, b in zip(x, y)), Fraction(" + JSON.stringify(q.c || "0") + "))\nprint(float(exact))\n" +
      a.rows.map((r) => "# " + r.device + " " + r.result.value + " " + r.result.bits).join("\n") + "\n",
    vector: (q, a) => a.rows.map((r) => [r.device, a.used.map((u) => u[0].bits).join(","), a.used.map((u) => u[1].bits).join(","), q.c || "0", r.result.bits].join(" ")).join("\n") + "\n",
  };

  async function copy(kind) {
    const q = questions.dot(fields("dot")), a = ask(q);
    const text = a.error ? a.error : copies[kind](q, a);
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch (e) { // no permission, or a page from a file
      const box = make("textarea", text);
      box.setAttribute("aria-label", "text to copy");
      byId("dot").querySelector(".tools").append(box);
      box.select();
      say("Press Ctrl+C to copy.");
    }
  }

  function ready() {
    const formats = ask({ ask: "formats" });
    for (const s of document.querySelectorAll("select[name=format]")) s.replaceChildren(...formats.map((f) => make("option", f)));
    form("product").elements.device.replaceChildren(...ask({ ask: "devices" }).map((d) => make("option", d)));
    for (const t of tabs) {
      form(t).addEventListener("input", update);
      form(t).addEventListener("submit", (e) => { e.preventDefault(); update(); });
    }
    for (const b of document.querySelectorAll("[data-copy]")) b.addEventListener("click", () => copy(b.dataset.copy));
    addEventListener("hashchange", () => { restore(); update(); });
    form("dot").elements.format.value = "binary16";
    form("product").elements.device.value = "hopper-wgmma-binary16-binary32";
    device = "hopper-wgmma-binary16-binary32";
    restore();
    update();
    say("");
    document.documentElement.dataset.ready = "yes";
  }

  async function load() {
    const text = atob(byId("program").textContent.trim());
    const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const program = await new Response(stream).arrayBuffer();
    const go = new Go();
    const { instance } = await WebAssembly.instantiate(program, go.importObject);
    go.run(instance);
    ready();
  }
  load().catch((e) => say("The program cannot run in this browser: " + e.message));
})();
