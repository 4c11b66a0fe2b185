// roundoffDraw(id, options) replaces what is in the element by charts, one below
// the other, that zoom together; drawn again, they replace those before. If anything goes wrong the element keeps what
// it had, a picture.
window.roundoffDraw = function (id, options) {
  var el = document.getElementById(id);
  if (!el || !window.echarts) return;
  var before = Array.prototype.slice.call(el.childNodes);
  var height = el.roundoffHeight || el.clientHeight, width = el.clientWidth;
  if (!height || !width) return;
  var raised = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  var power = function (e) {
    return e === 0 ? "1" : e === 1 ? "10" : "10" + String(e).replace(/./g, function (c) { return raised[c]; });
  };
  var number = function (v) {
    if (typeof v !== "number") return String(v);
    if (v === 0) return "0";
    var a = Math.abs(v);
    if (a >= 1e-3 && a < 1e5) return String(+v.toPrecision(4)).replace("-", "−");
    var p = v.toExponential(2).split("e");
    return (p[0] === "1.00" ? "" : p[0].replace("-", "−") + "×") + power(+p[1]);
  };
  var safe = function (s) {
    return String(s).replace(/[&<>"]/g, function (c) { return "&#" + c.charCodeAt(0) + ";"; });
  };
  var tips = function (logX, logY) {
    return function (list) {
      return [].concat(list).filter(function (p) { return p.seriesName !== "notes"; }).map(function (p) {
        var v = p.value, name = p.marker + safe(p.seriesName) + " ";
        if (!Array.isArray(v)) return name + safe(p.name) + ": " + number(v);
        return name + "(" + number(logX ? Math.pow(10, v[0]) : v[0]) + ", " + number(logY ? Math.pow(10, v[1]) : v[1]) + ")";
      }).join("<br>");
    };
  };
  // On a phone the legend is a column below the title, from the given left, with all names; only of curves that look
  // alike the names stand at their ends, inside the frame.
  var narrow = function (o, left) {
    var head = o.title && o.title.text ? 22 : 0;
    var curves = o.series.filter(function (s) { return s.name !== "notes"; });
    var looks = new Set(curves.map(function (s) { return s.type + s.color + JSON.stringify((s.lineStyle || {}).type); }));
    if (looks.size === curves.length) {
      curves.forEach(function (s) { delete s.endLabel; });
      Object.assign(o.legend, { show: true, data: curves.map(function (s) { return s.name; }) });
    }
    if (head) o.title.left = left;
    Object.assign(o.legend, { orient: "vertical", left: left, top: head });
    var above = curves.some(function (s) { return s.endLabel && s.endLabel.align === "center"; }) ? 19 : 0;
    o.grid[0].top = head + 20 * (o.legend.data || []).length + 14 + above;
    o.xAxis.splitNumber = Math.min(o.xAxis.splitNumber || 4, 4);
    if (curves[0].type === "bar") return; // its numbers stand beside the frame
    o.grid[0].right = 24;
    curves.forEach(function (s) {
      if (!s.endLabel) return;
      s.endLabel = Object.assign({ align: "right", verticalAlign: "bottom", textBorderColor: "#fff", textBorderWidth: 3 }, s.endLabel);
      if (s.endLabel.align === "center") s.endLabel.fontSize = 11;
    });
  };
  var bar = function (o) { return (o.dataZoom || []).some(function (z) { return z.type === "slider"; }); };
  // What stands left of the bar that zooms, in a column of the given width: a word, and once it has been used a button.
  var zoom = function (chart, width) {
    var box = document.createElement("div"), word = document.createElement("span"), reset = document.createElement("button");
    box.style.cssText = "position:absolute;left:0;bottom:6px;line-height:18px;width:" + (width - 10) + "px;text-align:right;font-size:12px;color:#595959";
    reset.style.cssText = "font:inherit;padding:0 6px";
    reset.type = "button";
    word.textContent = "zoom";
    reset.textContent = "zoom out";
    reset.hidden = true;
    reset.onclick = function () { chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 }); };
    chart.on("datazoom", function () {
      var z = chart.getOption().dataZoom[0];
      reset.hidden = z.start < 0.01 && z.end > 99.99;
      word.hidden = !reset.hidden;
    });
    box.append(word, reset);
    return box;
  };
  // The title of the y axes of all panels, upward along their left side.
  var title = function (text) {
    var box = document.createElement("div");
    box.className = "roundoff-title";
    box.style.cssText = "position:absolute;left:4px;top:0;bottom:70px;display:flex;align-items:center;justify-content:center;" +
      "writing-mode:vertical-rl;transform:rotate(180deg);font-size:14px;line-height:18px;text-align:center;color:#1a1a1a";
    box.textContent = text;
    return box;
  };
  var outside = function (o) { return +o.grid[0].top + +o.grid[0].bottom; };
  var plot = (height - options.reduce(function (sum, o) { return sum + outside(o); }, 0)) / options.length;
  try {
    el.roundoffHeight = height;
    (el.roundoffCharts || []).forEach(function (chart) { chart.dispose(); });
    el.roundoffCharts = [];
    el.replaceChildren();
    el.style.position = "relative";
    options.forEach(function (option) {
      var o = JSON.parse(JSON.stringify(option));
      if (width < 560) narrow(o, options[0].yAxis.shared ? 30 : 0);
      var logX = o.xAxis.logarithmic, logY = o.yAxis.logarithmic;
      [o.xAxis, o.yAxis].forEach(function (a) {
        if (a.logarithmic) a.axisLabel.formatter = function (e) {
          return Math.abs(e - Math.round(e)) < 1e-6 ? power(Math.round(e)) : ""; // decades only
        };
        else if (a.type === "value") a.axisLabel.formatter = number;
      });
      o.tooltip.formatter = tips(logX, logY);
      o.tooltip.confine = true;
      o.tooltip.extraCssText = "box-sizing:border-box;max-width:100%;white-space:normal";
      o.series.forEach(function (s) {
        if (s.type === "bar") s.label.formatter = function (p) { return number(p.value); };
      });
      (o.dataZoom || []).forEach(function (z) {
        if (z.type === "inside") { z.zoomOnMouseWheel = "shift"; z.moveOnMouseWheel = false; }
        else { z.height = 14; z.bottom = 8; z.showDetail = false; z.showDataShadow = false; z.brushSelect = false; }
      });
      var div = document.createElement("div");
      div.style.cssText = "position:relative;width:100%;height:" + Math.floor(plot + outside(o)) + "px";
      el.appendChild(div);
      var chart = echarts.init(div, null, { renderer: "svg" });
      chart.setOption(o);
      if (options.length > 1) chart.group = id;
      el.roundoffCharts.push(chart);
      if (bar(o)) div.append(zoom(chart, parseFloat(o.grid[0].left)));
    });
    if (options.length > 1) {
      echarts.connect(id);
      if (options[0].yAxis.shared) el.append(title(options[0].yAxis.shared));
    }
    if (!el.roundoffResizes) window.addEventListener("resize", el.roundoffResizes = function () {
      el.roundoffCharts.forEach(function (chart) { chart.resize(); });
    });
  } catch (err) {
    el.roundoffCharts = [];
    el.replaceChildren.apply(el, before);
    console.error("roundoff: chart " + id + ": " + err);
  }
};
