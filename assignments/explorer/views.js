// The six views: each has settings, draws itself anew when one changes, and ticks off its tasks.
const views = (() => {
  const letters = "ABCDEFGHIJ".split("");
  const number = (value) => (value === 0 ? "0" : Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toFixed(3));
  const count = (value) => value.toLocaleString("en");

  // A view: `build` makes the controls, and `show` returns a sentence, the panels, and what the tasks are tested on.
  function view(id, settings, build, show, list) {
    const section = document.getElementById(id);
    const [controls, reading, panels] = [".controls", ".reading", ".panels"].map((name) => section.querySelector(name));
    const check = draw.tasks(section, list);
    function refresh(changed = {}) {
      Object.assign(settings, changed);
      const { sentence, figures, state } = show(settings);
      if (reading.textContent !== sentence) reading.textContent = sentence;
      panels.replaceChildren(...figures);
      check({ ...settings, ...state });
    }
    build(controls, settings, refresh);
    refresh();
    draw.dark.addEventListener("change", () => refresh());
    return refresh;
  }

  view("shuffle", { order: [0, 1, 2, 3, 4], seed: 5, strength: 0, masked: false }, (controls, settings, refresh) => {
    draw.button(controls, "Shuffle", () => {
      const order = settings.order.map((_, k) => k);
      for (let k = order.length - 1; k > 0; k--) {
        const other = Math.floor(Math.random() * (k + 1));
        [order[k], order[other]] = [order[other], order[k]];
      }
      refresh({ order });
    });
    draw.button(controls, "Swap the last two", () =>
      refresh({ order: settings.order.map((_, k, all) => (k < all.length - 2 ? k : 2 * all.length - 3 - k)) }));
    draw.button(controls, "Original order", () => refresh({ order: settings.order.map((_, k) => k) }));
    draw.slider(controls, "Tokens", { min: 3, max: 10, value: 5 }, (length) =>
      refresh({ order: Array.from({ length }, (_, k) => k) }));
    draw.slider(controls, "Strength of positions", { min: 0, max: 3, step: 0.1, value: 0, show: (v) => v.toFixed(1) },
      (strength) => refresh({ strength }));
    draw.checkbox(controls, "Causal mask", false, (masked) => refresh({ masked }));
  }, (settings) => {
    const { plain, shuffled, gap } = compute.shuffle(settings);
    const names = letters.slice(0, settings.order.length), moved = settings.order.map((from) => names[from]);
    const isSame = settings.order.every((from, k) => from === k);
    const verdict = isSame ? "nothing was moved" : gap < 1e-12 ? "equivariant, but for rounding" : "not equivariant";
    return {
      sentence: `Order ${moved.join(" ")}: the gap is ${number(gap)}, ${verdict}.`,
      figures: [
        draw.table("Weights in the original order. Rows read, columns are read.", plain.weights, names, names),
        draw.table("Weights in the new order.", shuffled.weights, moved, moved),
      ],
      state: { gap, isSame },
    };
  }, [
    ["the gap is nothing but rounding, although tokens have moved.", ({ gap, isSame }) => !isSame && gap < 1e-12],
    ["the gap exceeds 0.5, without a mask.", ({ gap, masked }) => gap > 0.5 && !masked],
    ["a mask alone, without positions, breaks the symmetry.", ({ gap, masked, strength }) => gap > 0.01 && masked && !strength],
    ["positions are there, but so weak that the gap stays below 0.2.",
      ({ gap, strength, masked, isSame }) => strength > 0 && gap < 0.2 && !masked && !isSame],
  ]);

  const widths = Array.from({ length: 11 }, (_, k) => 2 ** k);
  view("width", { power: 4, keys: 16, seed: 1 }, (controls, settings, refresh) => {
    draw.slider(controls, "Width d", { min: 0, max: 10, value: 4, show: (v) => String(2 ** v) }, (power) => refresh({ power }));
    draw.slider(controls, "Keys", { min: 2, max: 32, value: 16 }, (keys) => refresh({ keys }));
    draw.button(controls, "Other random numbers", () => refresh({ seed: settings.seed + 10 }));
  }, ({ power, keys, seed }) => {
    const all = widths.map((width) => compute.width({ width, keys, seed }));
    const { plain, divided } = all[power];
    const names = Array.from({ length: keys }, (_, j) => String(j + 1));
    return {
      sentence: `At width ${2 ** power}, entropy is ${number(plain.entropy)} without the division and ${number(divided.entropy)} `
        + `with it; the largest weight is ${number(plain.largest)} and ${number(divided.largest)} on average.`,
      figures: [
        draw.lines("Mean entropy of 40 queries against the width", { name: "width d", values: widths }, [
          { name: "without √d", values: all.map((one) => one.plain.entropy) },
          { name: "divided by √d", values: all.map((one) => one.divided.entropy), dash: [6, 4] },
        ]),
        draw.table("Weights of the first query over the keys.", [plain.first, divided.first], ["without √d", "with √d"], names, { small: keys > 10 }),
      ],
      state: { plain, divided },
    };
  }, [
    ["both ways give the same entropy.", ({ plain, divided }) => Math.abs(plain.entropy - divided.entropy) < 1e-9],
    ["without the division, the entropy is below 0.2 nats.", ({ plain }) => plain.entropy < 0.2],
    ["with the division, the largest weight exceeds 0.6 on average.", ({ divided }) => divided.largest > 0.6],
  ]);

  const corners = [[0.5, 0.5], [4.5, 1], [2, 3.8]];
  view("hull", { scores: [0, 0, 0], aim: 0 }, (controls, settings, refresh) => {
    settings.scores.forEach((score, k) =>
      draw.slider(controls, `Score ${k + 1}`, { min: -10, max: 10, step: 0.1, value: score, show: (v) => v.toFixed(1) },
        (value) => refresh({ scores: settings.scores.map((old, other) => (other === k ? value : old)) })));
    draw.choice(controls, "Aim for", ["(2.0, 2.5)", "(3.5, 1.0)", "(4.5, 3.5)"], (aim) => refresh({ aim }));
  }, ({ scores, aim }) => {
    const goal = [[2, 2.5], [3.5, 1], [4.5, 3.5]][aim];
    const { weights, point } = compute.hull({ scores, values: corners });
    const distance = Math.hypot(point[0] - goal[0], point[1] - goal[1]);
    const told = weights.map((weight) => weight.toFixed(3)).join(", ");
    return {
      sentence: `Weights ${told}: the output is (${point.map((part) => part.toFixed(3)).join(", ")}), `
        + `${number(distance)} away from the cross.`,
      figures: [
        draw.triangle("The output (dot) stays inside the triangle of the values, whatever the scores; the cross is the aim.",
          corners, point, goal),
        draw.table("Weights of the three values.", [weights], ["weight"], ["1", "2", "3"]),
      ],
      state: { weights, distance, aim },
    };
  }, [
    ["the output is within 0.1 of (2.0, 2.5).", ({ aim, distance }) => aim === 0 && distance < 0.1],
    ["the output is within 0.1 of (3.5, 1.0).", ({ aim, distance }) => aim === 1 && distance < 0.1],
    ["the output is as near to (4.5, 3.5), outside, as it can get: within 1.68.", ({ aim, distance }) => aim === 2 && distance < 1.68],
    ["one value has a weight above 0.99, and still not 1.", ({ weights }) => Math.max(...weights) > 0.99],
  ]);

  const lengths = Array.from({ length: 14 }, (_, k) => 2 ** (k + 4));
  const bytes = (value) => {
    const unit = value >= 1e9 ? ["GB", 1e9] : value >= 1e6 ? ["MB", 1e6] : ["kB", 1e3];
    return `${count(Number((value / unit[1]).toPrecision(3)))} ${unit[0]}`;
  };
  view("cost", { power: 10, size: 9 }, (controls, settings, refresh) => {
    draw.slider(controls, "Length L", { min: 4, max: 17, value: 10, show: (v) => count(2 ** v) }, (power) => refresh({ power }));
    draw.slider(controls, "Width d", { min: 5, max: 14, value: 9, show: (v) => count(2 ** v) }, (size) => refresh({ size }));
  }, ({ power, size }) => {
    const all = lengths.map((length) => compute.cost({ length, width: 2 ** size }));
    const now = compute.cost({ length: 2 ** power, width: 2 ** size });
    const share = now.pairs / (now.pairs + now.projections);
    return {
      sentence: `${count(now.length)} tokens of width ${count(now.width)}: ${now.projections.toExponential(2)} operations for projections, `
        + `${now.pairs.toExponential(2)} for pairs (${(100 * share).toFixed(1)} %); one table of weights takes ${bytes(now.bytes)}.`,
      figures: [draw.lines("Operations against the length, both on logarithmic axes", { name: "length L", values: lengths }, [
        { name: "pairs", values: all.map((one) => one.pairs) },
        { name: "projections", values: all.map((one) => one.projections), dash: [6, 4] },
      ], { logY: true })],
      state: { share, table: now.bytes },
    };
  }, [
    ["one table of weights takes more than 8 GB.", ({ table }) => table > 8e9],
    ["the pairs make up more than 99 % of the operations.", ({ share }) => share > 0.99],
    ["the pairs make up less than 10 %, although the length is at least 1,024.", ({ share, power }) => share < 0.1 && power >= 10],
  ]);

  view("heads", { length: 8, first: 1, second: 3, sharpness: 4, seed: 7 }, (controls, settings, refresh) => {
    draw.slider(controls, "First distance", { min: 0, max: 7, value: 1 }, (first) => refresh({ first }));
    draw.slider(controls, "Second distance", { min: 0, max: 7, value: 3 }, (second) => refresh({ second }));
    draw.slider(controls, "Score of a wanted place", { min: 0, max: 12, step: 0.5, value: 4, show: (v) => v.toFixed(1) },
      (sharpness) => refresh({ sharpness }));
  }, (settings) => {
    const { tables, one, two } = compute.heads(settings);
    const names = Array.from({ length: settings.length }, (_, k) => String(k));
    return {
      sentence: `Mean squared error: ${number(one)} with one head, ${number(two)} with two.`,
      figures: [
        draw.table("One head for both distances.", tables.both, names, names),
        draw.table("Two heads: the one for the first distance.", tables.first, names, names),
        draw.table("Two heads: the one for the second distance.", tables.second, names, names),
      ],
      state: { one, two },
    };
  }, [
    ["two heads have an error below 0.001.", ({ two }) => two < 0.001],
    ["one head does just as well as two, with an error below 0.001.", ({ one, two }) => one < 0.001 && Math.abs(one - two) < 1e-9],
    ["a higher score does not help one head any more: its error stays above 0.3 at a score of 12.",
      ({ one, sharpness }) => sharpness === 12 && one > 0.3],
  ]);

  const { melodies } = melodyMaps, notes = "abcdefghijklmnop";
  view("melody", { melody: 0, place: 0 }, (controls, settings, refresh) => {
    draw.choice(controls, "Melody", melodies.map(({ period }) => `${period} notes, repeated`), (melody) => refresh({ melody }));
    draw.slider(controls, "Reading place", { min: 1, max: 24, value: 1 }, (place) => refresh({ place: place - 1 }));
  }, ({ melody, place }) => {
    const { notes: tune, maps, period } = melodies[melody];
    const names = tune.map((note) => notes[note]);
    const strongest = maps.map((map) => map[place].indexOf(Math.max(...map[place])));
    const told = strongest.map((at, layer) => `layer ${layer + 1} reads place ${at + 1} (${names[at]}) most, `
      + `with ${maps[layer][place][at].toFixed(2)}`);
    return {
      sentence: `Place ${place + 1} (${names[place]}): ${told.join("; ")}.`,
      figures: maps.map((map, layer) => draw.table(
        `Layer ${layer + 1}: rows read, columns are read; the melody is ${names.slice(0, period).join(" ")}, repeated.`,
        map, names, names, { small: true, marked: place })),
      state: { weights: maps.map((map) => map[place]), strongest, period },
    };
  }, [
    ["layer 1 reads the note to the left with a weight above 0.7, beyond place 2.",
      ({ weights, place }) => place > 1 && weights[0][place - 1] > 0.7],
    ["layer 2 reads the note that followed the current one a round ago with a weight above 0.9.",
      ({ weights, place, period }) => weights[1][place - period + 1] > 0.9],
  ]);
})();
