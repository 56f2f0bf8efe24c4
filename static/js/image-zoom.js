/* Zoom and pan for the image to judge: wheel, drag and keys. The picture is a box that scrolls, so
   touch and screen readers need nothing of this; without JavaScript a click shows the full size. */
(() => {
  "use strict";

  const STEP = 1.25;
  const LARGEST = 8;
  const PAN = 64;
  const TYPED_IN = "textarea, select, input:not([type=radio], [type=checkbox])";
  const PANS = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };
  const fitted = new WeakMap();

  const currentView = () => document.querySelector(".picture-view");
  const imageOf = (view) => view.querySelector("img");
  const isZoomed = (view) => view.classList.contains("is-zoomed");
  const centre = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });

  /* The width of the image where all of it is seen: measured before it is zoomed. */
  function fittedWidth(view) {
    if (!isZoomed(view)) fitted.set(view, imageOf(view).getBoundingClientRect().width);
    return fitted.get(view);
  }

  function fit(view) {
    view.classList.remove("is-zoomed");
    imageOf(view).style.removeProperty("inline-size");
    tell(view, 1);
  }

  /* Make the image this wide and keep the point under `at` where it is. */
  function zoomTo(view, width, at) {
    const image = imageOf(view);
    const least = fittedWidth(view);
    if (!least) return;
    const wanted = Math.min(width, least * LARGEST);
    if (wanted <= least * 1.01) return fit(view);
    const before = image.getBoundingClientRect();
    const point = at ?? centre(view.getBoundingClientRect());
    const share = { x: (point.x - before.left) / before.width, y: (point.y - before.top) / before.height };
    view.classList.add("is-zoomed");
    image.style.inlineSize = `${wanted}px`;
    const after = image.getBoundingClientRect();
    view.scrollLeft += after.left + share.x * after.width - point.x;
    view.scrollTop += after.top + share.y * after.height - point.y;
    tell(view, wanted / least);
  }

  function zoomBy(view, factor, at) {
    zoomTo(view, imageOf(view).getBoundingClientRect().width * factor, at);
  }

  /* The full size, or a good deal more than what is seen where that is the full size already. */
  function enlarge(view, at) {
    const least = fittedWidth(view);
    zoomTo(view, Math.max(imageOf(view).naturalWidth, least * STEP ** 3), at);
  }

  function tell(view, scale) {
    view.querySelector(".zoom").checked = isZoomed(view);
    const told = view.closest(".picture-frame").querySelector("output");
    if (told) told.textContent = `${Math.round(scale * 100)}%`;
  }

  function onWheel(event) {
    const view = event.target.closest?.(".picture-view");
    if (!view || !(event.ctrlKey || event.metaKey || isZoomed(view))) return;
    event.preventDefault();
    zoomBy(view, event.deltaY < 0 ? STEP : 1 / STEP, { x: event.clientX, y: event.clientY });
  }

  let drag = null;

  function onDown(event) {
    const view = event.target.closest?.(".picture-view");
    if (!view || event.button !== 0 || event.pointerType === "touch" || !isZoomed(view)) return;
    drag = { view, x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop, far: false };
  }

  function onMove(event) {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.far ||= Math.abs(x) + Math.abs(y) > 4;
    drag.view.classList.toggle("is-dragged", drag.far);
    drag.view.scrollTo({ left: drag.left - x, top: drag.top - y, behavior: "instant" });
  }

  let hasDragged = false;

  function onUp() {
    hasDragged = drag?.far ?? false;
    drag?.view.classList.remove("is-dragged");
    drag = null;
  }

  function onClick(event) {
    const tool = event.target.closest?.("[data-zoom]");
    const view = tool ? currentView() : event.target.closest?.(".picture-view");
    if (!view) return;
    if (tool) {
      if (tool.dataset.zoom === "fit") fit(view);
      else zoomBy(view, tool.dataset.zoom === "in" ? STEP : 1 / STEP);
    } else if (event.target === imageOf(view)) {
      event.preventDefault();
      if (hasDragged) hasDragged = false;
      else if (isZoomed(view)) fit(view);
      else enlarge(view, { x: event.clientX, y: event.clientY });
    }
  }

  /* The checkbox is how the keyboard reaches the full size; it works without JavaScript too. */
  function onChange(event) {
    const view = event.target.matches(".picture-view .zoom") && event.target.closest(".picture-view");
    if (view) event.target.checked ? enlarge(view) : fit(view);
  }

  function onKey(event) {
    const view = currentView();
    if (!view || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches?.(TYPED_IN) || document.querySelector("dialog:popover-open")) return;
    const pan = isZoomed(view) && !event.target.closest?.(".judgment") && PANS[event.key];
    if (event.key === "+" || event.key === "=") zoomBy(view, STEP);
    else if (event.key === "-") zoomBy(view, 1 / STEP);
    else if (event.key === "Escape" && isZoomed(view)) fit(view);
    else if (pan) view.scrollBy({ left: pan[0], top: pan[1] });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function prepare() {
    const tools = document.querySelector(".zoom-tools");
    if (tools) tools.hidden = false;
  }

  document.addEventListener("wheel", onWheel, { passive: false });
  document.addEventListener("pointerdown", onDown);
  document.addEventListener("pointermove", onMove);
  document.addEventListener("pointerup", onUp);
  document.addEventListener("pointercancel", onUp);
  document.addEventListener("dragstart", (event) => {
    if (event.target.closest?.(".picture-view")) event.preventDefault();
  });
  document.addEventListener("click", onClick);
  document.addEventListener("change", onChange);
  document.addEventListener("keydown", onKey, { capture: true });
  document.addEventListener("htmx:load", prepare);
  window.addEventListener("resize", () => { const view = currentView(); if (view) fit(view); });
  prepare();
})();
