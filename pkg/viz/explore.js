// roundoffExplore(id, spec) puts controls above the chart in the element of that id. They offer the settings of
// spec.frames, which were drawn in advance; where the kernel spec.kernel answers, all their values: it executes
// spec.code, in which @ is the setting, and the code prints the figure.
window.roundoffExplore = function (id, spec) {
  var card = document.getElementById(id + "-card"), el = document.getElementById(id);
  if (!card || !el || card.roundoffExplored) return;
  card.roundoffExplored = true;
  var caption = card.querySelector("figcaption span"), links = card.querySelector("figcaption small");
  var at = spec.controls.map(function (c) { return c.start; }), start = at.join(), firstLinks = links.innerHTML;
  var kernel = null, asking = false, late = false, busy = false, gone = false, resting;
  var shown = { at: start, links: true };

  var part = function (i) { return spec.pool[i]; };
  var unfold = function (o) {
    var z = {};
    Object.keys(o).forEach(function (k) { z[k] = Array.isArray(o[k]) ? o[k].map(part) : part(o[k]); });
    return z;
  };
  var show = function (setting, options, text) {
    if (shown.at === setting) return;
    window.roundoffDraw(id, options);
    caption.innerHTML = text;
    links.innerHTML = setting === start ? firstLinks : ""; // each setting has its own
    shown = { at: setting, links: setting === start };
  };
  var keptBy = function (c, v) {
    return c.kept.reduce(function (best, k) { return Math.abs(k - v) < Math.abs(best - v) ? k : best; });
  };
  var nearest = function () { return at.map(function (v, i) { return keptBy(spec.controls[i], v); }); };
  var showKept = function (setting) {
    var f = spec.frames[setting];
    if (f) show(setting, f.options.map(unfold), f.caption);
  };

  // A control runs over the indices of the values that it can have.
  var offered = function (c) { return kernel ? c.values.map(function (_, v) { return v; }) : c.kept; };
  var rows = spec.controls.map(function (c, i) {
    var label = document.createElement("label"), value = document.createElement("output");
    var input = document.createElement(c.list ? "select" : "input");
    label.style.cssText = "display:inline-flex;align-items:center;gap:8px;margin:0 20px 8px 0";
    input.setAttribute("aria-label", c.label);
    input.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab leaves the keys to it
    label.append(c.label, input);
    if (!c.list) {
      input.type = "range";
      input.min = 0;
      input.step = 1;
      value.style.cssText = "min-width:7em;font-variant-numeric:tabular-nums";
      label.append(value);
    }
    input.addEventListener("input", function () {
      at[i] = offered(c)[+input.value];
      moved();
    });
    var offer = function () {
      if (!c.list) input.max = offered(c).length - 1;
      else input.replaceChildren.apply(input, offered(c).map(function (v, position) { return new Option(c.values[v], position); }));
    };
    var tell = function () {
      input.value = offered(c).indexOf(at[i]);
      value.textContent = c.values[at[i]];
      if (!c.list) input.setAttribute("aria-valuetext", c.values[at[i]]);
    };
    return { label: label, offer: offer, tell: tell };
  });
  var note = document.createElement("small");
  note.setAttribute("role", "status");
  note.style.cssText = "color:#595959;font-size:12px;display:block";
  var some = spec.controls.some(function (c) { return c.kept.length < c.values.length; });
  var say = function () {
    var text = !some ? ""
      : busy ? "The kernel is busy: until it answers you see the nearest figure that was drawn in advance."
      : kernel ? "The kernel computes every value that you choose."
      : gone ? "No kernel answers for this figure, so the controls have the values that were drawn in advance. Run the cell again to have all values."
      : "The controls have the values that were drawn in advance. In JupyterLab, where a kernel computes the figure, they have more.";
    if (note.textContent !== text) note.textContent = text;
  };
  var tell = function () { rows.forEach(function (r) { r.tell(); }); say(); };

  var moved = function () {
    showKept(at.join());
    busy = asking && late && shown.at !== at.join();
    if (busy) showKept(nearest().join());
    tell();
    clearTimeout(resting);
    next();
  };
  // One question is asked at a time; what is set meanwhile is skipped, and every answer is shown. Links to the files,
  // which take longer, are asked for when the reader rests.
  var next = function () {
    if (!kernel || asking) return;
    if (shown.at !== at.join()) ask(at.join(), false);
    else if (!shown.links) resting = setTimeout(function () { if (!asking && kernel) ask(at.join(), true); }, 600);
  };
  var ask = function (setting, files) {
    asking = true;
    var slow = setTimeout(function () { late = true; moved(); }, 1000);
    kernel.run(question(setting, files), function (printed) {
      clearTimeout(slow);
      asking = late = busy = false;
      var f = read(printed);
      if (!f) return leave();
      show(setting, f.options, f.caption);
      if (files && shown.at === setting) { links.innerHTML = f.files; shown.links = true; }
      say();
      next();
    });
  };
  var question = function (setting, files) { return spec.code.replace("@", setting + (files ? ":files" : "")); };
  // The figure is the last line: a program may print before.
  var read = function (printed) {
    try { return JSON.parse(printed.trim().split("\n").pop()); } catch (err) { return null; }
  };

  // A kernel that has left an answer out must show that it answers. Where it answers without a figure, it has been
  // restarted without the cell's program, and only the cell can help.
  var met = function (k) {
    if (!gone) return use(k);
    k.run(question(start, false), function (printed) {
      if (read(printed)) use(k);
      else if (printed === null) listenLater();
    });
  };
  var use = function (k) {
    kernel = k;
    gone = false;
    wait = 1000;
    k.closed.then(function () { if (kernel === k) leave(); });
    rows.forEach(function (r) { r.offer(); });
    tell();
  };
  var leave = function () {
    kernel = null;
    gone = true;
    at = nearest();
    rows.forEach(function (r) { r.offer(); });
    moved();
    listenLater();
  };
  // A kernel that does not answer is looked for again, less and less often, until the server says that it has ended.
  var wait = 0; // ms; 0 until a server has said that it has the kernel
  var listenLater = function () {
    setTimeout(listen, wait);
    wait = Math.min(2 * wait, 60000);
  };
  var listen = function () {
    window.roundoffKernel(spec.kernel).then(met, function (err) {
      gone = err.reason !== "no server";
      say();
      if (err.reason === "no connection") wait = wait || 1000;
      if (wait && err.reason !== "no kernel") listenLater();
    });
  };

  var box = document.createElement("div");
  box.style.cssText = "margin:0 0 10px;font-size:14px;color:#1a1a1a";
  rows.forEach(function (r) { r.offer(); box.append(r.label); });
  box.append(note);
  card.prepend(box);
  tell();
  if (spec.kernel) listen();
};
