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
  var isLog = function (axis) { return axis.type === "value" && axis.axisLabel.formatter === "10^{value}"; };
  var tips = function (logX, logY) {
    return function (list) {
      return [].concat(list).filter(function (p) { return p.seriesName !== "notes"; }).map(function (p) {
        var v = p.value, name = p.marker + safe(p.seriesName) + " ";
        if (!Array.isArray(v)) return name + safe(p.name) + ": " + number(v);
        return name + "(" + number(logX ? Math.pow(10, v[0]) : v[0]) + ", " + number(logY ? Math.pow(10, v[1]) : v[1]) + ")";
      }).join("<br>");
    };
  };
  var outside = function (o) { return +o.grid[0].top + +o.grid[0].bottom; };
  var plot = (height - options.reduce(function (sum, o) { return sum + outside(o); }, 0)) / options.length;
  try {
    el.roundoffHeight = height;
    (el.roundoffCharts || []).forEach(function (chart) { chart.dispose(); });
    el.roundoffCharts = [];
    el.replaceChildren();
    options.forEach(function (option) {
      var o = JSON.parse(JSON.stringify(option));
      if (width < 560) { // a phone: the legend is a column below the title, and names the curves alone
        var head = o.title && o.title.text ? 22 : 0;
        if (head) o.title.left = 0;
        Object.assign(o.legend, { orient: "vertical", left: 0, top: head });
        o.grid[0].top = head + 23 * o.legend.data.length + 6;
        o.xAxis.splitNumber = Math.min(o.xAxis.splitNumber || 4, 4);
        o.series.forEach(function (s) {
          if (s.type === "bar") return; // its numbers stand beside the frame
          o.grid[0].right = 24;
          if (s.endLabel) s.endLabel.show = false;
        });
      }
      var logX = isLog(o.xAxis), logY = isLog(o.yAxis);
      [o.xAxis, o.yAxis].forEach(function (a) {
        if (isLog(a)) a.axisLabel.formatter = function (e) {
          return Math.abs(e - Math.round(e)) < 1e-6 ? power(Math.round(e)) : ""; // decades only
        };
        else if (a.type === "value") a.axisLabel.formatter = number;
      });
      o.tooltip.formatter = tips(logX, logY);
      o.tooltip.confine = true;
      o.series.forEach(function (s) {
        if (s.type === "bar") s.label.formatter = function (p) { return number(p.value); };
      });
      (o.dataZoom || []).forEach(function (z) {
        if (z.type === "inside") { z.zoomOnMouseWheel = "shift"; z.moveOnMouseWheel = false; }
        else { z.height = 14; z.bottom = 8; z.showDetail = false; z.showDataShadow = false; z.brushSelect = false; }
      });
      var div = document.createElement("div");
      div.style.cssText = "width:100%;height:" + Math.floor(plot + outside(o)) + "px";
      el.appendChild(div);
      var chart = echarts.init(div, null, { renderer: "svg" });
      chart.setOption(o);
      if (options.length > 1) chart.group = id;
      el.roundoffCharts.push(chart);
    });
    if (options.length > 1) echarts.connect(id);
    if (!el.roundoffResizes) window.addEventListener("resize", el.roundoffResizes = function () {
      el.roundoffCharts.forEach(function (chart) { chart.resize(); });
    });
  } catch (err) {
    el.roundoffCharts = [];
    el.replaceChildren.apply(el, before);
    console.error("roundoff: chart " + id + ": " + err);
  }
};
