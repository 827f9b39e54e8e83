// The numbers behind the views. Every function returns its inputs too, so that they can be checked against numpy.
const compute = (() => {
  // A small generator of random numbers with a seed (mulberry32), so that a view is the same whenever it is opened.
  function uniforms(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // Standard normal numbers by the Box-Muller transform, as rows.
  function normals(seed, rows, columns) {
    const next = uniforms(seed);
    const one = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return Array.from({ length: rows }, () => Array.from({ length: columns }, one));
  }

  const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const product = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
  const mean = (numbers) => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;

  // Weights of one row of scores; where `allowed` is false, the weight is zero.
  function softmax(scores, allowed = () => true) {
    const largest = Math.max(...scores.filter((_, j) => allowed(j)));
    const powers = scores.map((score, j) => (allowed(j) ? Math.exp(score - largest) : 0));
    const total = powers.reduce((sum, value) => sum + value, 0);
    return powers.map((power) => power / total);
  }

  const entropy = (weights) => -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0);

  function attend(x, matrices, masked) {
    const [queries, keys, values] = [product(x, matrices.q), product(x, matrices.k), product(x, matrices.v)];
    const root = Math.sqrt(keys[0].length);
    const weights = queries.map((query, i) =>
      softmax(keys.map((key) => dot(query, key) / root), (j) => !masked || j <= i));
    return { weights, output: product(weights, values) };
  }

  // One vector for each place: sines and cosines of the place, each pair slower than the one before.
  const places = (length, width) => Array.from({ length }, (_, t) =>
    Array.from({ length: width }, (_, column) => {
      const angle = t * 10000 ** (-(column - (column % 2)) / width);
      return column % 2 ? Math.cos(angle) : Math.sin(angle);
    }));

  function shuffle({ order, seed, strength, masked }) {
    const width = 4;
    const x = normals(seed, order.length, width);
    const matrices = { q: normals(seed + 1, width, width), k: normals(seed + 2, width, width), v: normals(seed + 3, width, width) };
    const added = places(order.length, width);
    const layer = (tokens) => attend(tokens.map((row, t) => row.map((value, c) => value + strength * added[t][c])), matrices, masked);
    const plain = layer(x), shuffled = layer(order.map((from) => x[from]));
    const gaps = shuffled.output.flatMap((row, i) => row.map((value, c) => Math.abs(value - plain.output[order[i]][c])));
    return { x, matrices, order, strength, masked, plain, shuffled, gap: Math.max(...gaps) };
  }

  function width({ width, keys, seed }) {
    const queries = normals(seed, 40, width), table = normals(seed + 1, keys, width);
    const scores = queries.map((query) => table.map((key) => dot(query, key)));
    const about = (divisor) => {
      const weights = scores.map((row) => softmax(row.map((score) => score / divisor)));
      return { entropy: mean(weights.map(entropy)), largest: mean(weights.map((row) => Math.max(...row))), first: weights[0] };
    };
    return { queries, keys: table, plain: about(1), divided: about(Math.sqrt(width)) };
  }

  function hull({ scores, values }) {
    const weights = softmax(scores);
    return { scores, values, weights, point: product([weights], values)[0] };
  }

  const cost = ({ length, width }) => ({
    length, width, projections: 6 * length * width ** 2, pairs: 4 * length ** 2 * width, bytes: 8 * length ** 2,
  });

  function heads({ length, first, second, sharpness, seed }) {
    const values = normals(seed, length, 3);
    const behind = (i, distance) => (((i - distance) % length) + length) % length;
    const weightsFor = (distances) => values.map((_, i) =>
      softmax(values.map((_, j) => (distances.some((distance) => behind(i, distance) === j) ? sharpness : 0))));
    const tables = { both: weightsFor([first, second]), first: weightsFor([first]), second: weightsFor([second]) };
    const output = Object.fromEntries(Object.entries(tables).map(([name, weights]) => [name, product(weights, values)]));
    const error = (name, distance) => mean(values.flatMap((_, i) =>
      output[name][i].map((value, c) => (value - values[behind(i, distance)][c]) ** 2)));
    return {
      values, tables, output,
      one: (error("both", first) + error("both", second)) / 2,
      two: (error("first", first) + error("second", second)) / 2,
    };
  }

  return { normals, softmax, entropy, places, attend, shuffle, width, hull, cost, heads };
})();
