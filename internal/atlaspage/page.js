"use strict"
const $ = id => document.getElementById(id)
const number = x => x === null ? "none" : x === 0 ? "0" : Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(3))
const LEVELS = [["sizes", 0], ["distribution", 1], ["run", 3]] // of elements, what is known of them, and of the product
const NEEDS = ["nothing", "distribution", "sums of the run", "trace of the run"]
const HOLDS = ["yes", "not on this machine", "not for these data"]

function element(name, text, attributes = {}) {
  const e = document.createElement(name)
  if (text !== undefined) e.textContent = text
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  return e
}

// tabulate fills a table. The first cell of a row is its heading; numbers stand to the right.
function tabulate(table, caption, head, rows) {
  const tr = (cells, name) => {
    const r = element("tr")
    cells.forEach((c, i) => {
      const heading = name === "th" || i === 0
      const cell = element(heading ? "th" : "td", typeof c === "string" ? c : c.n ?? c.text, c.n === undefined ? {} : {class: "n"})
      if (heading) cell.scope = name === "th" ? "col" : "row"
      if (c.button) {
        const b = element("button", c.button, {type: "button"})
        b.onclick = c.press
        cell.append(b)
      }
      if (c.title) cell.title = c.title
      r.append(cell)
    })
    return r
  }
  const thead = element("thead"), tbody = element("tbody")
  thead.append(tr(head, "th"))
  for (const row of rows) {
    const r = tr(row.cells, "td")
    if (row.class) r.className = row.class
    tbody.append(r)
  }
  table.replaceChildren(element("caption", caption), thead, tbody)
}

// Atlas answers questions about the tables that the page contains.
class Atlas {
  constructor(t) {
    Object.assign(this, t)
    this.cells = new Map(t.machine.map((m, i) => [[m, t.of[i], t.k[i]].join(), i]))
    this.exact = t.bounds.findIndex(b => b.name === "exact")
  }
  cell(device, data, k) { return this.cells.get([this.devices[device].machine, data, k].join()) }
  rows(cell) { return Array.from({length: this.first[cell + 1] - this.first[cell]}, (_, i) => this.first[cell] + i) }
  // best is the row of the bound with the largest tau that holds and needs no more than that.
  best(cell, needs) {
    const held = this.rows(cell).filter(i => this.verdict[i] === 0 && this.bound[i] !== this.exact && this.bounds[this.bound[i]].needs <= needs)
    return held.reduce((best, i) => best === undefined || this.tau[i] > this.tau[best] ? i : best, undefined)
  }
}

// plot draws series of points [K, value] with both axes logarithmic.
function plot(series, ks, here) {
  const values = series.flatMap(s => s.points.map(p => p[1])).filter(v => v > 0)
  if (!values.length) return "<p>All errors are 0.</p>"
  const W = 640, H = 360, left = 64, right = 168, top = 12, bottom = 44
  const low = Math.floor(Math.log10(Math.min(...values))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  const x = k => left + (Math.log2(k) - Math.log2(ks[0])) / Math.max(1, Math.log2(ks.at(-1)) - Math.log2(ks[0])) * (W - left - right)
  const y = v => top + (high - Math.log10(v)) / (high - low) * (H - top - bottom)
  let svg = `<svg viewBox="0 0 ${W} ${H}" role="img" aria-label="${series.map(s => s.label).join(", ")} against K, as in the table below">`
  const step = Math.ceil((high - low) / 6)
  for (let d = low; d <= high; d += step)
    svg += `<path class="grid" d="M${left} ${y(10 ** d)}H${W - right}"/><text x="${left - 6}" y="${y(10 ** d) + 4}" text-anchor="end">1e${d}</text>`
  for (const k of ks) svg += `<text x="${x(k)}" y="${H - bottom + 18}" text-anchor="middle">${k}</text>`
  svg += `<path class="here" d="M${x(here)} ${top}V${H - bottom}"/><text x="${(left + W - right) / 2}" y="${H - 6}" text-anchor="middle">K</text>`
  const ends = []
  for (const s of series) {
    const points = s.points.filter(p => p[1] > 0)
    if (!points.length) continue
    svg += `<path class="series" style="stroke:var(${s.colour})" stroke-dasharray="${s.dash}" d="M${points.map(p => x(p[0]).toFixed(1) + " " + y(p[1]).toFixed(1)).join("L")}"/>`
    ends.push({y: y(points.at(-1)[1]), s})
  }
  ends.sort((a, b) => a.y - b.y)
  ends.forEach((e, i) => { e.y = Math.max(e.y, i ? ends[i - 1].y + 15 : top + 8) })
  for (let i = ends.length - 1; i >= 0; i--) ends[i].y = Math.min(ends[i].y, i < ends.length - 1 ? ends[i + 1].y - 15 : H - bottom)
  for (const e of ends) svg += `<text x="${W - right + 8}" y="${e.y + 4}" style="fill:var(${e.s.colour})">${e.s.label}</text>`
  return svg + "</svg>"
}

// A Quantised answers questions about the products whose factors recipes quantised.
class Quantised {
  constructor(t) {
    Object.assign(this, t)
    this.cells = new Map(t.recipe.map((r, i) => [[r, t.unit[i], t.of[i], t.k[i]].join(), i]))
  }
  // cell is undefined where nothing was judged.
  cell(recipe, unit, data, k) {
    const c = this.cells.get([recipe, unit, data, k].join())
    return this.outputs[c] ? c : undefined
  }
  unitsOf(recipe) { return this.units.map((_, u) => u).filter(u => this.recipe.some((r, i) => r === recipe && this.unit[i] === u)) }
}

function start(atlas) {
  const form = $("choice"), {format, device, data, k} = form.elements
  const fill = (select, options) => select.replaceChildren(...options)
  const option = (text, value) => element("option", text, {value})
  fill(format, [option("any format", ""), ...[...new Set(atlas.devices.map(d => d.factors))].map(f => option(f, f))])
  fill(data, atlas.data.map(option))
  fill(k, atlas.ks.map(option))
  const listDevices = () => {
    const kept = device.value, kinds = new Map()
    atlas.devices.forEach((d, i) => {
      if (format.value && d.factors !== format.value) return
      if (!kinds.has(d.kind)) kinds.set(d.kind, element("optgroup", undefined, {label: d.kind}))
      kinds.get(d.kind).append(option(d.name, i))
    })
    fill(device, [...kinds.values()])
    if ([...device.options].some(o => o.value === kept)) device.value = kept
  }
  const read = () => {
    const state = new URLSearchParams(location.hash.slice(1))
    const choose = (select, value) => { if ([...select.options].some(o => o.value === value)) select.value = value }
    choose(format, state.get("format") ?? "")
    listDevices()
    choose(device, String(atlas.devices.findIndex(d => d.name === state.get("device"))))
    choose(data, String(state.has("data") ? atlas.data.indexOf(state.get("data")) : Math.min(2, atlas.data.length - 1)))
    choose(k, String(state.has("k") ? atlas.ks.indexOf(+state.get("k")) : atlas.ks.length >> 1))
    choose(recipe, String(q.recipes.findIndex(r => r.name === state.get("recipe"))))
    listUnits()
    choose(unit, String(q.units.indexOf(state.get("unit"))))
    show()
  }
  const write = () => {
    const state = new URLSearchParams({device: atlas.devices[device.value].name, data: atlas.data[data.value], k: atlas.ks[k.value]})
    if (format.value) state.set("format", format.value)
    if (recipe.value) state.set("recipe", q.recipes[recipe.value].name)
    if (unit.value) state.set("unit", q.units[unit.value])
    history.replaceState(null, "", "#" + state)
    show()
  }
  const show = () => {
    const d = +device.value, l = +data.value, h = +k.value, cell = atlas.cell(d, l, h)
    const name = atlas.devices[d].name, where = `entries ~ ${atlas.data[l]}, K = ${atlas.ks[h]}`
    const same = atlas.devices.filter((z, i) => i !== d && z.machine === atlas.devices[d].machine).map(z => z.name)
    $("one-h").textContent = name
    $("device").textContent = atlas.devices[d].says + "." + (same.length ? ` ${same.join(", ")} compute${same.length > 1 ? "" : "s"} the same.` : "")
    const judged = cell !== undefined && atlas.outputs[cell] > 0
    for (const id of ["plot", "lengths", "bounds"]) $(id).hidden = !judged
    $("status").textContent = judged ? sentence(cell, where) :
      `${name}, ${where}: ${cell === undefined ? "not in the atlas, for these data are for devices whose blocks have scales" : "not judged, " + atlas.why[cell]}.`
    if (judged) one(d, l, h, cell)
    all(l, h, d)
    if (q.recipes.length) quantised(l, h)
  }
  const sentence = (cell, where) => {
    const b = atlas.best(cell, 1), error = `${where[0].toUpperCase() + where.slice(1)}: the largest error of ${atlas.outputs[cell]} outputs is ${number(atlas.largest[cell])} |A||B|`
    if (atlas.largest[cell] === 0) return error + ": nothing is rounded."
    return b === undefined ? error + "; before the run no bound holds." :
      `${error}; of the bounds that hold before the run the tightest is ${atlas.bounds[atlas.bound[b]].name}, with τ = ${number(atlas.tau[b])}.`
  }
  const one = (d, l, h, cell) => {
    const at = atlas.ks.map((_, i) => atlas.cell(d, l, i)).map(c => c !== undefined && atlas.outputs[c] ? c : undefined)
    const points = f => at.map((c, i) => [atlas.ks[i], c === undefined ? 0 : f(c) ?? 0])
    const constant = needs => c => { const b = atlas.best(c, needs); return b === undefined ? 0 : atlas.constant[b] }
    const series = [
      {label: "bound, of sizes", colour: "--sure", dash: "7 4", points: points(constant(0))},
      {label: "bound, distribution", colour: "--before", dash: "7 4", points: points(constant(1))},
      {label: "bound, from the run", colour: "--run", dash: "2 3", points: points(constant(3))},
      {label: "largest |e|", colour: "--error", dash: "", points: points(c => atlas.largest[c])},
      {label: "RMS e", colour: "--soft", dash: "", points: points(c => atlas.rms[c])},
    ]
    $("plot").querySelector(".picture").innerHTML = plot(series, atlas.ks, atlas.ks[h])
    $("plot").querySelector("figcaption").textContent = `Errors and the tightest bounds that hold, relative to |A||B|; entries ~ ${atlas.data[l]}. A bound from the run is the largest of all outputs.`
    tabulate($("lengths"), "Against K", ["K", {n: "RMS e"}, {n: "mean e"}, {n: "largest |e|"}, ...LEVELS.flatMap(([w]) => [`bound from ${w}`, {n: "τ"}])],
      at.map((c, i) => ({class: i === h ? "here" : "", cells: c === undefined ? [String(atlas.ks[i]), "not judged"] :
        [String(atlas.ks[i]), {n: number(atlas.rms[c])}, {n: number(atlas.mean[c])}, {n: number(atlas.largest[c])}, ...LEVELS.flatMap(([, needs]) => {
          const b = atlas.best(c, needs)
          return atlas.largest[c] === 0 ? ["no errors", {n: ""}] : b === undefined ? ["none", {n: ""}] : [atlas.bounds[atlas.bound[b]].name, {n: number(atlas.tau[b])}]
        })]})))
    const rows = atlas.rows(cell).filter(i => $("false").checked || atlas.verdict[i] === 0)
    rows.sort((i, j) => Math.min(1, atlas.verdict[i]) - Math.min(1, atlas.verdict[j]) || atlas.tau[j] - atlas.tau[i])
    tabulate($("bounds"), `Every bound at K = ${atlas.ks[h]}`, ["bound", "needs", "kind", "holds", {n: "bound/|A||B|"}, {n: "τ"}, {n: "outputs above it"}],
      rows.map(i => {
        const b = atlas.bounds[atlas.bound[i]]
        return {class: atlas.verdict[i] ? "false" : "", cells: [{text: b.name, title: b.source}, NEEDS[b.needs] + (atlas.ranges[i] ? ", sizes" : ""), b.sure ? "certain" : "probable", HOLDS[atlas.verdict[i]], {n: number(atlas.constant[i])}, {n: number(atlas.tau[i])}, {n: String(atlas.violations[i])}]}
      }))
  }
  const all = (l, h, chosen) => {
    const rows = []
    atlas.devices.forEach((z, i) => {
      const c = z.machine === i ? atlas.cell(i, l, h) : undefined
      if (c === undefined || !atlas.outputs[c] || format.value && z.factors !== format.value) return
      const pair = needs => { const b = atlas.best(c, needs); return atlas.largest[c] === 0 ? ["no errors", {n: ""}] : b === undefined ? ["none", {n: ""}] : [atlas.bounds[atlas.bound[b]].name, {n: number(atlas.tau[b])}] }
      rows.push({class: i === atlas.devices[chosen].machine ? "here" : "", cells: [
        {button: z.name, press: () => { device.value = i; write(); $("one-h").scrollIntoView() }}, z.factors, {n: number(atlas.rms[c])}, {n: number(atlas.largest[c])}, ...pair(1), ...pair(3)]})
    })
    tabulate($("all"), `Entries ~ ${atlas.data[l]}, K = ${atlas.ks[h]}`, ["Device", "Factors", {n: "RMS e"}, {n: "largest |e|"}, "best bound before the run", {n: "τ"}, "from the run", {n: "τ"}], rows)
  }
  const recipes = $("recipes"), {recipe, unit} = recipes.elements, q = new Quantised(atlas.quantised)
  fill(recipe, q.recipes.map((r, i) => option(r.name, i)))
  const listUnits = () => {
    const kept = unit.value, units = q.unitsOf(+recipe.value)
    fill(unit, units.map(u => option(q.units[u], u)))
    if (units.includes(+kept) && kept !== "") unit.value = kept
  }
  const quantised = (l, h) => {
    const r = +recipe.value, u = +unit.value, k = q.ks.indexOf(atlas.ks[h]), where = `entries ~ ${atlas.data[l]}`
    const at = q.ks.map((_, i) => q.cell(r, u, l, i)), c = at[k]
    const points = column => at.map((c, i) => [q.ks[i], c === undefined ? 0 : column[c] ?? 0])
    const judged = at.some(c => c !== undefined)
    $("parts").hidden = !judged
    $("recipe").textContent = `${q.recipes[r].says}. ` + (c !== undefined ?
      `With ${where} and K = ${atlas.ks[h]}, sums on ${q.units[u]} make ${number(100 * q.share[c])} % of the mean square of the error.` :
      judged ? `There are recipes at K = ${q.ks.join(", ")}.` : `With ${where} there are no recipes: the scales of blocks would be quantised with them.`)
    if (judged) {
      $("parts").querySelector(".picture").innerHTML = plot([
        {label: "bound, distribution", colour: "--before", dash: "7 4", points: points(q.law)},
        {label: "its part, quantised", colour: "--before", dash: "2 3", points: points(q.lost_law)},
        {label: "bound, matrices", colour: "--sure", dash: "7 4", points: points(q.given)},
        {label: "RMS e", colour: "--error", dash: "", points: points(q.rms)},
        {label: "quantised", colour: "--soft", dash: "", points: points(q.lost)},
        {label: "sums", colour: "--run", dash: "", points: points(q.accumulated)},
      ], q.ks, atlas.ks[h])
      $("parts").querySelector("figcaption").textContent = `${q.recipes[r].name} on ${q.units[u]}, ${where}: root mean squares of the error and of its parts, and the tightest bounds that hold, relative to |A||B|.`
    }
    const rows = []
    q.recipes.forEach((z, i) => q.unitsOf(i).forEach(v => {
      const c = q.cell(i, v, l, k)
      if (c === undefined) return
      const bound = (b, tau) => b === null ? [{n: "none"}, {n: ""}] : [{n: number(b)}, {n: number(tau)}]
      rows.push({class: i === r && v === u ? "here" : "", cells: [
        {button: z.name, title: z.says, press: () => { recipe.value = i; listUnits(); unit.value = v; write(); $("quantised-h").scrollIntoView() }}, q.units[v],
        {n: number(q.rms[c])}, {n: number(q.share[c])}, {n: number(q.lost[c])}, {n: number(q.accumulated[c])}, ...bound(q.law[c], q.law_tau[c]), ...bound(q.given[c], q.given_tau[c])]})
    }))
    tabulate($("shares"), `Entries ~ ${atlas.data[l]}, K = ${atlas.ks[h]}` + (rows.length ? "" : ": no recipes"), ["Recipe", "Sums on", {n: "RMS e"}, {n: "share"}, {n: "quantised"}, {n: "sums"}, {n: "bound, distribution"}, {n: "τ"}, {n: "bound, matrices"}, {n: "τ"}], rows)
  }
  recipe.onchange = () => { listUnits(); write() }
  unit.onchange = write
  recipes.onsubmit = e => e.preventDefault()
  recipes.hidden = $("quantised").hidden = !q.recipes.length
  format.onchange = () => { listDevices(); write() }
  for (const select of [device, data, k]) select.onchange = write
  $("false").onchange = show
  window.onhashchange = read
  form.onsubmit = e => e.preventDefault()
  form.hidden = $("one").hidden = false
  read()
  document.documentElement.dataset.ready = ""
}

const packed = Uint8Array.from(atob($("packed").textContent), c => c.charCodeAt(0))
new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json()
  .then(t => start(new Atlas(t)), e => { $("status").textContent = `This browser cannot open the data (${e.message}); the table below is for one distribution and K.` })
