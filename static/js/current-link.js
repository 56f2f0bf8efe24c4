/* Where the pages of a study stand in one row that scrolls, the page at hand is in sight. */
for (const link of document.querySelectorAll(".one-row [aria-current=page]")) {
  const row = link.parentElement;
  const [inside, around] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  row.scrollLeft += inside.left + inside.width / 2 - around.left - around.width / 2;
}
