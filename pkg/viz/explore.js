// roundoffExplore(id, spec) puts controls above the chart in the element of that id. They step
// through the frames of spec, drawn beforehand; while a kernel answers at spec.address they have
// all their values, and what is shown is computed at once.
window.roundoffExplore = function (id, spec) {
  var card = document.getElementById(id + "-card"), el = document.getElementById(id);
  if (!card || !el || card.roundoffExplored) return;
  card.roundoffExplored = true;
  var caption = card.querySelector("figcaption span"), files = card.querySelector("figcaption small");
  var firstFiles = files.innerHTML, start = spec.controls.map(function (c) { return c.start; });
  var at = start.slice(), live = false, asked = 0;

  var part = function (i) { return spec.pool[i]; };
  var unfold = function (o) {
    var z = {};
    Object.keys(o).forEach(function (k) { z[k] = Array.isArray(o[k]) ? o[k].map(part) : part(o[k]); });
    return z;
  };
  var show = function (options, text, links) {
    window.roundoffDraw(id, options);
    caption.innerHTML = text;
    files.innerHTML = links;
  };
  var nearest = function (c, v) {
    return c.kept.reduce(function (best, k) { return Math.abs(k - v) < Math.abs(best - v) ? k : best; });
  };

  var rows = spec.controls.map(function (c, i) {
    var label = document.createElement("label"), value = document.createElement("output"), input;
    label.style.cssText = "display:inline-flex;align-items:center;gap:8px;margin:0 20px 8px 0";
    label.append(c.label);
    if (c.list) {
      input = document.createElement("select");
      c.values.forEach(function (text, v) { input.add(new Option(text, v)); });
    } else {
      input = document.createElement("input");
      input.type = "range"; input.min = 0; input.max = c.values.length - 1; input.step = 1;
      value.style.cssText = "min-width:7em;font-variant-numeric:tabular-nums";
    }
    input.setAttribute("aria-label", c.label);
    label.append(input);
    if (!c.list) label.append(value);
    input.value = c.start;
    input.addEventListener("input", function () { moved(i, +input.value); });
    return { label: label, tell: function () { input.value = at[i]; value.textContent = c.values[at[i]]; } };
  });
  var note = document.createElement("small");
  note.style.cssText = "color:#595959;font-size:12px;display:block";
  var tell = function () {
    rows.forEach(function (r) { r.tell(); });
    note.textContent = live ? "The kernel computes what you set."
      : "Drawn beforehand: sliders stop at the values that are kept. Where a kernel runs this cell they have all.";
  };

  var moved = function (i, v) {
    at[i] = live ? v : nearest(spec.controls[i], v);
    if (!live) at = at.map(function (v, i) { return nearest(spec.controls[i], v); });
    tell();
    if (live) return ask();
    var f = spec.frames[at.join(",")];
    show(f.options.map(unfold), f.caption, at.join() === start.join() ? firstFiles : "");
  };
  var ask = function () { window.gonb_comm.send(spec.address, ++asked + ":" + at.join(",")); };
  var answered = function (_, text) {
    if (text === "over") { live = false; return tell(); }
    var f = JSON.parse(text);
    if (!live) { live = true; tell(); }
    if (f.at.join() === at.join()) show(f.options, f.caption, f.files);
  };
  // The kernel puts gonb_comm on the page when the cell asks for it.
  var listen = function (n) {
    if (window.gonb_comm) {
      window.gonb_comm.subscribe(spec.address + "/frame", answered);
      ask();
    } else if (n > 0) setTimeout(listen, 100, n - 1);
  };

  var box = document.createElement("div");
  box.style.cssText = "margin:0 0 10px;font-size:14px;color:#1a1a1a";
  rows.forEach(function (r) { box.append(r.label); });
  box.append(note);
  card.prepend(box);
  tell();
  if (spec.address) listen(100);
};
