/* Keys of the judging screen: each presses what the page shows with `data-key`, nothing more.
   Beside that: a label that could not be sent stays, says so, and is sent once the network is back. */
(() => {
  "use strict";

  const TYPED_IN = "textarea, select, input:not([type=radio], [type=checkbox])";
  const HAS_KEYS_OF_ITS_OWN = "a, button, summary, select, textarea";
  const byId = (id) => document.getElementById(id);
  const form = () => byId("judgment-form");
  const isSending = () => document.querySelector("#card .htmx-request, #card.htmx-request") !== null;

  /* What the person opened stays open on the next pair. */
  const kept = { rubric: false, texts: false };

  /* What to send again once the network is back: the button pressed (null for the keyboard), or
     nothing, as soon as the person changes something: then they are still at work on it. */
  let unsent;

  /* Whether a key was pressed while a label was on its way: it is not taken, because it may be meant
     for the pair that is still shown, for the next one, or for neither. */
  let wasPressedTooSoon = false;

  /* Letters and digits by the place of the key where the layout writes other signs there. */
  function nameOfKey(event) {
    const { key, code } = event;
    if (key === "?" || /^[0-9]$/.test(key)) return key;
    const place = /^(?:Key|Digit|Numpad)([A-Z0-9])$/.exec(code);
    if (/^[a-zA-Z]$/.test(key)) return key.toUpperCase();
    const isSign = /^(?:Digit|Numpad)/.test(code) && event.shiftKey;
    return place && key.length === 1 && !isSign ? place[1] : key;
  }

  function isDead(event) {
    return event.defaultPrevented || event.isComposing || event.keyCode === 229 || event.repeat
      || event.ctrlKey || event.metaKey || event.altKey || event.getModifierState("AltGraph");
  }

  function onKey(event) {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Escape") return leave(target);
    if (target.matches(TYPED_IN) || target.isContentEditable) return;
    if (scrollDocument(event, target)) return event.preventDefault();
    if (isDead(event)) return;
    const help = byId("help");
    const key = nameOfKey(event);
    if (help?.matches(":popover-open") && key !== "?") return;
    if (isSending()) {
      if (key === "Enter" || findPressed(key)) {
        event.preventDefault();
        wasPressedTooSoon = true;
      }
      return;
    }
    if (key === "Enter") {
      if (target.closest(HAS_KEYS_OF_ITS_OWN) || !form()) return;
      event.preventDefault();
      form().requestSubmit();
      return;
    }
    if (press(key)) event.preventDefault();
  }

  function findPressed(key) {
    return /^[0-9A-Z?]$/.test(key) ? document.querySelector(`[data-key="${key}"]`) : null;
  }

  function press(key) {
    const found = findPressed(key);
    if (!found) return false;
    if (found.matches("textarea")) found.focus();
    else if (found.name === "decided_by" && found.checked) stepThroughReadings(found);
    else found.click();
    return true;
  }

  /* The letter of the chosen dimension, pressed again: its first reading, the next, none. */
  function stepThroughReadings(dimension) {
    const group = dimension.closest(".option").nextElementSibling;
    if (!group?.matches(".clauses")) return;
    const readings = [...group.querySelectorAll("[name=clause]")];
    const next = readings[(readings.findIndex((one) => one.checked) + 1) % readings.length];
    next.click();
    next.closest(".option").scrollIntoView({ block: "nearest" });
  }

  function leave(target) {
    if (target.matches(TYPED_IN)) return target.blur();
    const rubric = byId("rubric");
    if (rubric?.open && !byId("help")?.matches(":popover-open")) rubric.open = false;
  }

  function scrollDocument(event, target) {
    const body = byId("document-body");
    if (!body || event.ctrlKey || event.metaKey || event.altKey) return false;
    const page = body.clientHeight * 0.85;
    const isFree = !target.closest("input, [data-scroll], .rubric-sheet, dialog, " + HAS_KEYS_OF_ITS_OWN);
    const steps = {
      PageDown: page,
      PageUp: -page,
      ...(isFree && { " ": event.shiftKey ? -page : page, ArrowDown: 48, ArrowUp: -48 }),
    };
    const step = steps[event.key];
    if (!step || body.scrollHeight <= body.clientHeight || target.closest(".rubric-sheet, dialog")) {
      return false;
    }
    body.scrollBy({ top: step });
    return true;
  }

  /* A reading belongs to its dimension: choosing another dimension takes it back. */
  function onChange(event) {
    tellPressedTooSoon(false);
    if (event.target.id === "full-texts") kept.texts = event.target.checked;
    const refused = event.target.closest("#judgment-form fieldset[aria-invalid]");
    if (refused && event.target.name) {
      refused.removeAttribute("aria-invalid");
      refused.querySelector(".error").hidden = true;
    }
    if (event.target.name !== "decided_by") return;
    const own = event.target.closest(".option").nextElementSibling;
    for (const reading of form().querySelectorAll("[name=clause]:checked")) {
      if (!own?.contains(reading)) reading.checked = false;
    }
    own?.scrollIntoView({ block: "nearest" });
  }

  /* What scrolls can be reached with the keyboard in every browser. */
  function prepareCard() {
    const rubric = byId("rubric");
    if (rubric) {
      rubric.open = kept.rubric;
      rubric.addEventListener("toggle", () => { kept.rubric = rubric.open; });
    }
    const texts = byId("full-texts");
    if (texts) texts.checked = kept.texts;
    for (const box of document.querySelectorAll("[data-scroll], .reading .wide, .reading pre")) {
      if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) {
        box.tabIndex = 0;
      }
    }
    for (const image of document.querySelectorAll(".picture-frame img")) {
      image.addEventListener("error", () => tellBroken(image));
      if (image.complete && !image.naturalWidth) tellBroken(image);
    }
  }

  function tellBroken(image) {
    image.closest("figure").querySelector(".missing").hidden = false;
  }

  function tellUnsent(isUnsent) {
    const words = byId("not-recorded");
    if (words) words.hidden = !isUnsent;
  }

  /* Said beside the pair that is then shown, until something is chosen or sent there. */
  function tellPressedTooSoon(isToTell) {
    const words = byId("pressed-too-soon");
    if (words) words.hidden = !isToTell;
    wasPressedTooSoon = false;
  }

  function noteUnsent(event) {
    const isLabel = event.detail.elt === form();
    unsent = isLabel ? event.detail.requestConfig?.triggeringEvent?.submitter ?? null : undefined;
  }

  function sendAgain() {
    const button = unsent;
    if (button === undefined || !form() || isSending()) return;
    form().requestSubmit(button?.isConnected ? button : undefined);
  }

  document.addEventListener("keydown", onKey);
  document.addEventListener("change", onChange);
  document.addEventListener("input", () => { unsent = undefined; });
  document.addEventListener("htmx:sendError", noteUnsent);
  window.addEventListener("online", sendAgain);
  document.addEventListener("htmx:beforeRequest", () => {
    unsent = undefined;
    tellUnsent(false);
    tellPressedTooSoon(false);
  });
  for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.addEventListener(failure, () => {
      tellUnsent(true);
      tellPressedTooSoon(wasPressedTooSoon);
    });
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "card" && event.detail.target?.id !== "card") return;
    prepareCard();
    tellPressedTooSoon(wasPressedTooSoon);
  });
  prepareCard();
})();
