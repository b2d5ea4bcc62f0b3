// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// What moves on the pages. Each page is complete without it.
"use strict";

const live = document.querySelector("[data-live]");
const connection = document.getElementById("connection");
let source = null;
let paused = false;
let mark = null; // the range that is being marked
let pressed = false; // nothing is replaced while a button of the mouse is down on it
let next = null; // what is to be shown after that

// span writes a duration as the server does.
function span(seconds) {
  const parts = (big, bigUnit, small, smallUnit) => {
    const rest = Math.floor((seconds % big) / small);
    return Math.floor(seconds / big) + bigUnit + (rest > 0 ? rest + smallUnit : "");
  };
  const minute = 60, hour = 3600, day = 24 * hour, year = 365 * day;
  if (seconds < 2 * minute) return Math.floor(seconds) + "s";
  if (seconds < 10 * minute) return parts(minute, "m", 1, "s");
  if (seconds < 3 * hour) return Math.floor(seconds / minute) + "m";
  if (seconds < 8 * hour) return parts(hour, "h", minute, "m");
  if (seconds < 2 * day) return Math.floor(seconds / hour) + "h";
  if (seconds < 8 * day) return parts(day, "d", hour, "h");
  if (seconds < 2 * year) return Math.floor(seconds / day) + "d";
  if (seconds < 8 * year) return parts(year, "y", day, "d");
  return Math.floor(seconds / year) + "y";
}

// count has each time say how far it is now.
function count() {
  for (const time of document.querySelectorAll("[data-when]")) {
    const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
    const text = span(Math.abs(seconds));
    const said = time.dataset.when === "bare" ? text : seconds > 0 ? "in " + text : text + " ago";
    if (time.textContent !== said) time.firstChild ? time.firstChild.nodeValue = said : time.append(said);
  }
}

// update makes a node like a fresh one, and leaves what is alike as it is: a selected text stays so.
function update(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const before = [...old.childNodes], after = [...fresh.childNodes];
  after.forEach((node, i) => i < before.length ? update(before[i], node) : old.append(node));
  for (const node of before.slice(after.length)) node.remove();
}

// swap shows a new state of what changes, and leaves the focus where it was.
function swap(html) {
  if (pressed) {
    next = html;
    return;
  }
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const fresh = live.cloneNode(false);
  fresh.innerHTML = html;
  update(live, fresh);
  const page = live.querySelector("[data-page]");
  if (page.value !== document.body.dataset.page) {
    location.reload(); // it is another page by now, such as that the CronJob was deleted
    return;
  }
  if (focused !== "") document.getElementById(focused)?.focus({ preventScroll: true });
  const said = document.getElementById("said"), text = live.querySelector("[data-say]")?.textContent ?? "";
  if (said.textContent !== text) said.textContent = text; // a screen reader says it
  count();
}

// connect has the server send each new state of the page, while it is looked at.
function connect() {
  source?.close();
  source = null;
  if (live === null || paused || document.hidden) return;
  source = new EventSource(location.href);
  source.onmessage = (event) => {
    connection.textContent = "";
    swap(event.data);
  };
  source.onerror = () => {
    connection.textContent = "kubectl cronjob ui does not answer: it may have ended. What is shown is old.";
  };
}

// show goes to another state of the same page.
function show(form) {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (value === "") query.delete(name);
  history.replaceState(null, "", "?" + query);
  connect();
}

// later returns a function that calls another one when it was not called for a moment.
function later(call) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, 150);
  };
}

document.documentElement.classList.add("scripted");
document.addEventListener("keydown", (event) => {
  const search = document.querySelector("[name=q]");
  if (event.key !== "/" || !search || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  search.focus();
});

for (const form of document.querySelectorAll("[data-submit]")) {
  const follow = later(() => show(form));
  form.addEventListener("input", () => {
    source?.close(); // what it sends is about what was typed before
    follow();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(form);
  });
}

// A range of the past that is marked on a timeline is backfilled: the page asks first.
document.addEventListener("pointerdown", (event) => {
  pressed = true;
  const row = event.target.closest?.("svg[data-mark]");
  if (!row || event.button !== 0) return;
  event.preventDefault();
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  rect.setAttribute("class", "mark");
  rect.setAttribute("height", "100%");
  row.append(rect);
  mark = { row, rect, from: shareAt(row, event), until: shareAt(row, event) };
});
document.addEventListener("dragstart", (event) => { if (mark !== null) event.preventDefault(); });
document.addEventListener("pointermove", (event) => {
  if (mark === null) return;
  mark.until = shareAt(mark.row, event);
  mark.rect.setAttribute("x", 100 * Math.min(mark.from, mark.until) + "%");
  mark.rect.setAttribute("width", 100 * Math.abs(mark.until - mark.from) + "%");
});
for (const type of ["pointerup", "pointercancel"]) {
  document.addEventListener(type, () => {
    pressed = false;
    if (next !== null) setTimeout(swap, 0, next); // after the click that this makes
    next = null;
  });
}
document.addEventListener("pointercancel", () => { // the touch has become a scroll
  mark?.rect.remove();
  mark = null;
});
document.addEventListener("pointerup", () => {
  if (mark === null) return;
  const { row, rect, from, until } = mark;
  mark = null;
  rect.remove();
  if (Math.abs(until - from) < 0.005) return; // a click
  const query = new URLSearchParams({ from: timeAt(row, Math.min(from, until)), to: timeAt(row, Math.max(from, until)) });
  location.href = row.dataset.mark + "?" + query;
});

// shareAt is where on a timeline the pointer is, from 0 to 1.
function shareAt(row, event) {
  const box = row.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

// timeAt is the time there, but not in the future.
function timeAt(row, share) {
  const from = Date.parse(row.dataset.from), until = Date.parse(row.dataset.until);
  const at = Math.min(from + share * (until - from), Date.parse(row.dataset.now));
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}

if (live !== null) {
  const pause = document.createElement("button");
  pause.type = "button";
  pause.textContent = "Pause";
  pause.setAttribute("aria-pressed", "false");
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    connect();
  });
  document.querySelector("header").append(pause);
  document.addEventListener("visibilitychange", connect);
  addEventListener("pagehide", () => source?.close());
  requestAnimationFrame(() => setTimeout(connect)); // the server makes the page anew: not while it is first painted
}
setInterval(() => { if (!paused) count(); }, 1000);
count();
