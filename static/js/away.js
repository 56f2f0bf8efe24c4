/* Time away from the pair on screen: the tab hidden, or no sign of the person for a minute. It goes
   along with the label in milliseconds; the server bounds it by what it has measured itself. */
(() => {
  "use strict";

  const IDLE_AFTER = 60_000;
  const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchstart"];
  const field = () => document.querySelector("#judgment-form [name=away]");
  const token = () => document.querySelector("#judgment-form [name=token]")?.value;
  const passed = (since) => Math.max(Date.now() - since, 0);

  let away = 0;
  let lastSign = Date.now();
  let hiddenSince = document.hidden ? Date.now() : null;
  let shown = token();

  function noteSign() {
    away += Math.max(passed(lastSign) - IDLE_AFTER, 0);
    lastSign = Date.now();
  }

  function noteVisibility() {
    if (document.hidden) {
      noteSign();
      hiddenSince = Date.now();
    } else if (hiddenSince !== null) {
      away += passed(hiddenSince);
      hiddenSince = null;
      lastSign = Date.now();
    }
  }

  /* The same pair shown again, because something was wrong with the form, keeps its time. */
  function startAnew() {
    if (token() === shown) return;
    shown = token();
    away = 0;
    lastSign = Date.now();
  }

  function report(event) {
    if (event.target.id !== "judgment-form" || !field()) return;
    noteSign();
    field().value = String(Math.round(away));
  }

  for (const sign of SIGNS) {
    document.addEventListener(sign, noteSign, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", noteVisibility);
  document.addEventListener("submit", report, true);
  document.addEventListener("htmx:afterSettle", startAnew);
})();
