// Beside each picture that can be had as SVG: the same as PNG, drawn by the browser.
"use strict";

(() => {
  const SCALE = 2;

  function draw(image) {
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  async function save(link) {
    const image = new Image();
    image.src = link.href;
    await image.decode();
    const made = document.createElement("a");
    made.href = URL.createObjectURL(await draw(image));
    made.download = new URL(link.href).pathname.split("/").pop().replace(/\.svg$/, ".png");
    made.click();
    URL.revokeObjectURL(made.href);
  }

  for (const link of document.querySelectorAll("a[data-picture]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "PNG";
    button.addEventListener("click", () => {
      button.disabled = true;
      // A picture that cannot be loaded is left to its own address, which says why.
      save(link).catch(() => link.click()).finally(() => { button.disabled = false; });
    });
    link.after(" ", button);
  }
})();
