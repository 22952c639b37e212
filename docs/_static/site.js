// What is wider than the page says so, until it is scrolled to its end.
function addCue(box, text) {
  const cue = document.createElement("p");
  cue.className = "scroll-cue";
  cue.textContent = text;
  box.before(cue);
  const show = () => {
    cue.hidden = box.scrollWidth - box.clientWidth - box.scrollLeft < 8;
  };
  box.addEventListener("scroll", show);
  new ResizeObserver(show).observe(box);
  show();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".pst-scrollable-table-container")) {
    for (const cell of box.querySelectorAll("td")) cell.classList.toggle("long", cell.textContent.trim().length > 35);
    addCue(box, "more columns: scroll →");
    // A first column that fills the box would hide the others when it stays.
    new ResizeObserver(() => {
      const first = box.querySelector("tr > :first-child");
      const isWide = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("keeps-first", isWide && first !== null && first.offsetWidth < 0.45 * box.clientWidth);
    }).observe(box);
  }
  for (const picture of document.querySelectorAll(".bd-article p > img, .bd-article .figure > img, .bd-article figure > img")) {
    const frame = () => {
      if (picture.naturalWidth < 640 || picture.naturalWidth < picture.naturalHeight) return;
      picture.parentElement.classList.add("picture-box");
      addCue(picture.parentElement, "wider picture: scroll →");
    };
    if (picture.complete) frame();
    else picture.addEventListener("load", frame);
  }
});
