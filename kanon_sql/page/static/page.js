"use strict";
// Forms are sent as they change; of the screen that comes back, the regions that differ are exchanged.
const base = document.body.dataset.base;
const inField = (e) => e && e.matches("input:not([type=checkbox], [type=radio]), textarea, select");
let stale = false, sending = false, reading = false, again = false;

const swap = (html, refused) => {  // what was refused is shown as it was, though its text has not changed
  const next = new DOMParser().parseFromString(html, "text/html");
  const focus = document.activeElement;
  for (const old of document.querySelectorAll("[data-live]")) {
    const made = next.getElementById(old.id);
    if (!made || (made.outerHTML === old.outerHTML && !refused)) continue;
    if (old.contains(focus) && inField(focus)) { stale = true; continue; }
    for (const open of old.querySelectorAll("details[id][open]")) made.querySelector(`#${open.id}`)?.setAttribute("open", "");
    for (const tick of old.querySelectorAll("[data-chip] :checked")) made.querySelector(`#${tick.id}`)?.setAttribute("checked", "");
    old.replaceWith(made);
  }
  if (focus?.id && !document.contains(focus)) document.getElementById(focus.id)?.focus();
};

const busy = (on) => document.body.toggleAttribute("data-busy", on);
const read = async () => {
  if ("refused" in document.body.dataset) return;  // its address takes only what is sent
  again = sending || reading;
  if (again) return;
  reading = true;
  stale = false;
  try { swap(await (await fetch(location.href)).text()); } finally { reading = false; }
  if (again) read();
};

// One change is on its way at a time; of what is typed meanwhile into one form only the last is sent.
const waiting = new Map();
const send = async (form, button) => {
  const body = new FormData(form, button);
  waiting.set(button ? {} : form, [form.action, form.enctype === "multipart/form-data" ? body : new URLSearchParams(body)]);
  if (sending) return;
  sending = true;
  busy(true);
  try {
    while (waiting.size) {
      const [[first, [action, content]]] = waiting;
      waiting.delete(first);
      const answer = await fetch(action, { method: "POST", body: content });
      const text = await answer.text();
      if (answer.redirected) history.replaceState(null, "", answer.url);  // a screen may say there what it shows
      if (!waiting.size) swap(text, !answer.ok);
    }
  } finally { sending = false; busy(false); }
  if (again) read();
};

document.addEventListener("input", (e) => {  // a slider and the field beside it show the same
  for (const other of document.querySelectorAll(`[data-same="${e.target.dataset.same ?? "-"}"]`)) if (other !== e.target) other.value = e.target.value;
});
document.addEventListener("input", (e) => e.target.form?.dataset.send === "input" && send(e.target.form));
document.addEventListener("change", (e) => e.target.form?.dataset.send === "change" && send(e.target.form));
document.addEventListener("submit", (e) => {
  if (!("send" in e.target.dataset)) return;
  e.preventDefault();
  send(e.target, e.submitter);
});
document.addEventListener("focusout", () => stale && setTimeout(read));
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  button.textContent = "Copied";
});
document.addEventListener("click", (e) => {  // a button that fills a field
  const button = e.target.closest("[data-fill]"), field = button && document.getElementById(button.dataset.fill);
  if (!field) return;
  field.value = button.value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// Chips are dragged to boxes, or ticked and moved by the fields of their form, which M leads to.
let dragged = null;
const drag = (chip) => { dragged = chip; document.body.toggleAttribute("data-drag", !!chip); };
document.addEventListener("dragstart", (e) => drag(e.target.closest?.("[data-chip]")));
document.addEventListener("dragend", () => drag(null));
document.addEventListener("dragover", (e) => dragged?.closest("form").contains(e.target.closest("[data-drop]")) && e.preventDefault());
document.addEventListener("drop", (e) => {
  const box = e.target.closest("[data-drop]"), form = dragged?.closest("form");
  if (!box || !form?.contains(box)) return;
  e.preventDefault();
  dragged.querySelector("input").checked = true;
  form.elements.to.value = box.dataset.drop;
  form.requestSubmit(form.querySelector("[value=move]"));
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "m" || !e.target.closest("[data-chip]")) return;
  e.preventDefault();
  e.target.form.elements.to.focus();
});
document.addEventListener("keydown", (e) => {  // in a field, the browser undoes what was typed
  if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== "z" || inField(e.target)) return;
  const button = document.getElementById(e.shiftKey ? "redo" : "undo");
  if (!button || button.disabled) return;
  e.preventDefault();
  button.click();
});

const events = new EventSource(`${base}events`);
events.onmessage = (e) => {
  const { kind, html } = JSON.parse(e.data);
  if (kind === "live") swap(html); else read();
};
events.onerror = () => { document.getElementById("lost").hidden = false; };
events.onopen = () => { document.getElementById("lost").hidden = true; read(); };  // events from before it was open

// Two tables of the same rows scroll together.
document.addEventListener("scroll", (e) => {
  const group = e.target.dataset?.scroll;
  if (!group) return;
  for (const other of document.querySelectorAll(`[data-scroll="${group}"]`)) if (other !== e.target && other.scrollLeft !== e.target.scrollLeft) other.scrollLeft = e.target.scrollLeft;
}, true);
