// A table that is wider than the page says so, until it is scrolled to its end.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
    const cue = document.createElement("p");
    cue.className = "table-cue";
    cue.textContent = "more columns: scroll →";
    box.before(cue);
    const show = () => {
      cue.hidden = box.scrollWidth - box.clientWidth - box.scrollLeft < 8;
    };
    box.addEventListener("scroll", show);
    new ResizeObserver(show).observe(box);
    show();
  }
});
