"use strict";
const answers = [...document.querySelectorAll("article")];
const part = (answer) => answer.closest(".part");
const one = (selector, under = document) => under.querySelector(selector);
const all = (selector, under = document) => [...under.querySelectorAll(selector)];
const { rubricKeys, commentKeys } = document.body.dataset;
// What was chosen for an answer and not saved: it is there again when the reader comes back to it.
const drafts = new Map();
let current = null;
let conflict = null;
let saving = false;

const unread = () => answers.filter((answer) => answer.dataset.points === "");
const fields = () => ({ points: one(".points", part(current)), comment: one(".comment", part(current)), items: all("[type=checkbox]", part(current)) });

function kept(answer) {
  return { points: answer.dataset.points, comment: answer.dataset.comment, items: [] };
}

function remember() {
  if (!current) return;
  const { points, comment, items } = fields();
  const draft = { points: points.value, comment: comment.value, items: items.filter((item) => item.checked).map((item) => items.indexOf(item)) };
  const before = kept(current);
  if (draft.points === before.points && draft.comment === before.comment) drafts.delete(current);
  else drafts.set(current, draft);
}

function fill(draft) {
  const { points, comment, items } = fields();
  points.value = draft.points;
  comment.value = draft.comment;
  items.forEach((item, place) => { item.checked = draft.items.includes(place); });
  mark();
}

function mark() {
  const { comment } = fields();
  all(".used button", part(current)).forEach((button) => { button.setAttribute("aria-pressed", String(button.value === comment.value)); });
}

function tell(problem, said = "") {
  one("#problem").textContent = problem;
  one("#said").textContent = said;
}

function show(answer, said = "") {
  remember();
  conflict = null;
  if (current) { current.hidden = true; part(current).hidden = true; }
  current = answer;
  part(answer).hidden = false;
  answer.hidden = false;
  const { points } = answer.dataset;
  one(".state", answer).textContent = points === "" ? "" : `, ${points} given`;
  fill(drafts.get(answer) ?? kept(answer));
  const left = unread().length;
  one("#count").textContent = left ? `${answers.length} answers, ${left} without points` : `All ${answers.length} answers have points.`;
  tell("", said);
  answer.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function step(by) {
  const place = answers.indexOf(current) + by;
  if (place >= 0 && place < answers.length) show(answers[place]);
  else tell("", by > 0 ? "This is the last answer." : "This is the first answer.");
}

function next() {
  const place = answers.indexOf(current);
  return [...answers.slice(place + 1), ...answers.slice(0, place)].find((answer) => answer.dataset.points === "");
}

function offer(section, comment) {
  if (!comment || all(".used button", section).some((button) => button.value === comment)) return;
  const button = document.createElement("button");
  button.type = "button";
  button.value = comment;
  one(".used", section).append(button);
  label(section);
}

function label(section) {
  all(".used button", section).forEach((button, place) => {
    const key = commentKeys[place];
    button.replaceChildren();
    if (key) {
      const shown = document.createElement("kbd");
      shown.textContent = key;
      button.append(shown, " ");
      button.setAttribute("aria-keyshortcuts", key);
    }
    button.append(button.value);
  });
}

const worded = (given) => `${given.points === null || given.points === "" ? "no points" : `${given.points} points`}, ${given.comment ? `“${given.comment}”` : "no comment"}`;

async function save() {
  if (saving) return;
  const answer = current;
  const { points, comment } = fields();
  const number = Number(points.value.replace(",", "."));
  if (points.value.trim() === "" || Number.isNaN(number)) { tell("Choose rubric items, or type points (g). An answer that earns nothing gets 0."); return; }
  const asked = { key: answer.dataset.key, seen: conflict ? conflict.version : answer.dataset.version, points: number, comment: comment.value };
  saving = true;
  try {
    const response = await fetch("save", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
    const said = await response.json();
    if (response.ok) {
      keep(answer, said.given);
      drafts.delete(answer);
      offer(part(answer), said.given.comment);
      if (current !== answer) return;
      const following = next();
      if (following) show(following, "Saved.");
      else { show(answer, "Saved. All answers have points; end the program in the terminal with Ctrl-C."); }
    } else {
      if (current !== answer) show(answer);
      conflict = said.given ?? null;
      tell(said.given && conflict.version !== answer.dataset.version
        ? `Not saved. ${said.problem}\nNow given: ${worded(said.given)}\nYours: ${worded(asked)}\nEnter saves yours instead; Esc takes what is given.`
        : `Not saved. ${said.problem}`);
    }
  } catch {
    tell("Not saved: the program in the terminal does not answer. What you chose stays on this page; leave it open, and press Enter to try again.");
  } finally {
    saving = false;
  }
}

function keep(answer, given) {
  answer.dataset.points = given.points === null ? "" : String(given.points);
  answer.dataset.comment = given.comment;
  answer.dataset.version = given.version;
}

function take() {
  keep(current, conflict);
  conflict = null;
  fill(kept(current));
  show(current, "Taken over.");
}

function sum() {
  const { points, items } = fields();
  const total = items.filter((item) => item.checked).reduce((before, item) => before + Number(item.dataset.points), 0);
  points.value = String(Math.round(total * 100) / 100);
}

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("textarea, .points");
  if (event.key === "Escape") {
    if (conflict) take();
    else current.focus();
  } else if (event.key === "Enter" && !event.target.matches("button, summary, a") && (event.ctrlKey || event.metaKey || !event.target.matches("textarea"))) {
    event.preventDefault();
    save();
  } else if (!writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const { points, comment, items } = fields();
    const item = items[rubricKeys.indexOf(event.key)];
    const used = all(".used button", part(current))[commentKeys.indexOf(event.key)];
    if (rubricKeys.includes(event.key) && item) item.click();
    else if (event.key === "0") { items.forEach((each) => { each.checked = false; }); sum(); }
    else if (commentKeys.includes(event.key) && used) used.click();
    else if ("jn".includes(event.key)) step(1);
    else if ("kp".includes(event.key)) step(-1);
    else if (event.key === "c") comment.focus();
    else if (event.key === "g") { points.focus(); points.select(); }
    else if (event.key === "m") { const model = one("details", part(current)); if (model) model.open = !model.open; }
    else return;
    event.preventDefault();
  }
});
document.addEventListener("change", (event) => { if (event.target.matches("[type=checkbox]")) sum(); });
document.addEventListener("input", mark);
document.addEventListener("click", (event) => {
  const button = event.target.closest(".used button");
  if (!button) return;
  const { comment } = fields();
  comment.value = comment.value === button.value ? "" : button.value;
  mark();
});
document.addEventListener("submit", (event) => { event.preventDefault(); save(); });
window.addEventListener("beforeunload", (event) => { remember(); if (drafts.size) event.preventDefault(); });
all(".part").forEach(label);
show(unread()[0] ?? answers[0]);
