// What views draw with: controls, tables of weights, line charts, and lists of tasks.
const draw = (() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  let inputs = 0;

  // A slider with its name and its value; `show` says how the value is written.
  function slider(parent, name, { min, max, step = 1, value, show = String }, changed) {
    // A label would otherwise belong to the output, which comes first in it.
    const id = `input-${++inputs}`;
    const output = element("output", { for: id }, show(value));
    const input = element("input", { id, type: "range", min, max, step, value, "aria-valuetext": show(value) });
    input.addEventListener("input", () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
      changed(Number(input.value));
    });
    parent.append(element("label", { for: id }, `${name}: `, output, input));
  }

  function checkbox(parent, name, value, changed) {
    const input = element("input", { type: "checkbox" });
    input.checked = value;
    input.addEventListener("change", () => changed(input.checked));
    parent.append(element("label", {}, input, ` ${name}`));
  }

  function button(parent, name, pressed) {
    const made = element("button", { type: "button" }, name);
    made.addEventListener("click", pressed);
    parent.append(made);
  }

  function choice(parent, name, options, changed) {
    const select = element("select", {}, ...options.map((text, value) => element("option", { value }, text)));
    select.addEventListener("change", () => changed(Number(select.value)));
    parent.append(element("label", {}, `${name}: `, select));
  }

  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => rgb.reduce((sum, part, k) => sum + [0.2126, 0.7152, 0.0722][k] * channel(part / 255), 0);

  // The colours of a weight: its ground, and the text on it that can be read better.
  function shades(weight) {
    const [pale, strong] = dark.matches ? [[30, 30, 30], [158, 203, 255]] : [[255, 255, 255], [8, 48, 107]];
    const share = Math.min(1, Math.max(0, weight));
    const rgb = pale.map((part, k) => Math.round(part + share * (strong[k] - part)));
    return [`rgb(${rgb.join(",")})`, luminance(rgb) > 0.179 ? "#000000" : "#ffffff"];
  }

  // A table of weights, perhaps with one row marked. A small one has no numbers to see, but a screen reader reads them.
  function table(caption, weights, rows, columns, { small = false, marked = -1 } = {}) {
    const title = (name) => (small && name.length > 1 ? element("span", { class: "hidden" }, name) : name);
    const head = element("tr", {}, element("td"), ...columns.map((name) => element("th", { scope: "col" }, title(name))));
    const body = weights.map((row, i) => {
      const cells = columns.map((_, j) => {
        const value = row[j] ?? 0;
        const text = value.toFixed(2);
        const cell = element("td", {}, small ? element("span", { class: "hidden" }, text) : text);
        const [ground, ink] = shades(value);
        cell.style.backgroundColor = ground;
        cell.style.color = ink;
        return cell;
      });
      return element("tr", i === marked ? { class: "marked" } : {}, element("th", { scope: "row" }, rows[i]), ...cells);
    });
    const made = element("table", small ? { class: "small" } : {}, element("caption", { class: "hidden" }, caption), head, ...body);
    return element("figure", {}, made, element("figcaption", {}, caption));
  }

  // A line chart with logarithmic axes where asked, and its numbers as a table behind a fold.
  function lines(caption, across, series, { logY = false } = {}) {
    const size = Math.min(560, Math.max(260, document.documentElement.clientWidth - 48));
    const place = element("div", { role: "img", "aria-label": `${caption}. The numbers stand in the table below.` });
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 0.3 }, ticks: { show: false } };
    const short = (value) => (value >= 1e4 ? value.toExponential(0).replace("+", "") : String(value));
    const powers = (_, axisNumber, low, high) =>
      Array.from({ length: 16 }, (_, k) => 10 ** (2 * k)).filter((value) => value >= low && value <= high);
    new uPlot({
      width: size, height: 260, cursor: { show: false }, legend: { live: false },
      scales: { x: { time: false, distr: 3, log: 2 }, y: logY ? { distr: 3 } : {} },
      axes: [
        { ...axis, label: across.name, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : short(tick))) },
        { ...axis, size: 64, splits: logY ? powers : undefined, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : short(tick))) },
      ],
      series: [{ label: across.name }, ...series.map(({ name, dash }, k) => ({
        label: name, width: 2, dash, stroke: colour(k ? "--second" : "--accent"), points: { show: true },
      }))],
    }, [across.values, ...series.map((one) => one.values)], place);
    const heads = [across.name, ...series.map((one) => one.name)].map((name) => element("th", { scope: "col" }, name));
    const rows = across.values.map((value, k) => element("tr", {}, element("th", { scope: "row" }, String(value)),
      ...series.map((one) => element("td", {}, one.values[k].toPrecision(4)))));
    const numbers = element("table", { class: "numbers" }, element("tr", {}, ...heads), ...rows);
    return element("figure", {}, place, element("figcaption", {}, caption),
      element("details", {}, element("summary", {}, "Numbers of this chart"), numbers));
  }

  // A triangle of values with the point that a weighted average gives, and perhaps a point to aim for.
  function triangle(caption, values, point, aim) {
    const space = "http://www.w3.org/2000/svg";
    const made = (tag, attributes, text = "") => {
      const node = document.createElementNS(space, tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      node.textContent = text;
      return node;
    };
    const [x, y] = [(value) => 40 + 50 * value, (value) => 240 - 50 * value];
    const svg = made("svg", { viewBox: "0 0 320 260", role: "img", "aria-label": caption });
    svg.append(made("polygon", {
      points: values.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), fill: colour("--panel"), stroke: colour("--text"),
    }));
    values.forEach(([a, b], k) => svg.append(
      made("circle", { cx: x(a), cy: y(b), r: 4, fill: colour("--text") }),
      made("text", { x: x(a) + 7, y: y(b) - 7, fill: colour("--text"), "font-size": 13 }, `value ${k + 1}`)));
    svg.append(
      made("path", { d: `M${x(aim[0]) - 6},${y(aim[1])}h12m-6,-6v12`, stroke: colour("--second"), "stroke-width": 2 }),
      made("circle", { cx: x(point[0]), cy: y(point[1]), r: 6, fill: colour("--accent") }));
    return element("figure", {}, svg, element("figcaption", {}, caption));
  }

  // Tasks with a test each; one that was met once stays ticked off.
  function tasks(section, list) {
    const met = list.map(() => false);
    const items = list.map(([text]) => element("li", {}, `☐ ${text}`));
    section.querySelector(".tasks").replaceChildren(...items);
    return (state) => list.forEach(([text, test], k) => {
      if (met[k] || !test(state)) return;
      met[k] = true;
      items[k].className = "done";
      items[k].textContent = `☑ ${text} Found.`;
    });
  }

  return { slider, checkbox, button, choice, table, lines, triangle, tasks, dark };
})();
