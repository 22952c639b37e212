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
    for (const cell of box.querySelectorAll("td")) {
      const text = cell.textContent.trim();
      cell.classList.toggle("long", text.length > 35);
      cell.classList.toggle("middling", text.length > 14);
      cell.classList.toggle("number", /^[−+]?[\d.]/.test(text) && text.length < 16);
    }
    for (const word of box.querySelectorAll("code .pre")) word.classList.toggle("short", word.textContent.length < 18);
    addCue(box, "more columns: scroll →");
    // A first column that fills the box would hide the others when it stays.
    new ResizeObserver(() => {
      const first = box.querySelector("tr > :first-child");
      const isWide = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("keeps-first", isWide && first !== null && first.offsetWidth < 0.45 * box.clientWidth);
    }).observe(box);
  }
  for (const picture of document.querySelectorAll(".bd-article :is(p, .figure, figure) > img, img.sphx-glr-single-img")) {
    const frame = () => {
      picture.style.setProperty("--readable", `${Math.min(672, 0.85 * picture.naturalWidth)}px`);
      let box = picture.parentElement;
      if (!box.matches("p, figure, .figure")) {
        box = document.createElement("div");  // a picture of the gallery stands in its section
        picture.replaceWith(box);
        box.append(picture);
      }
      box.classList.add("picture-box");
      addCue(box, "wider picture: scroll →");
    };
    if (picture.complete) frame();
    else picture.addEventListener("load", frame);
  }
  for (const formula of document.querySelectorAll(".bd-article div.math")) addCue(formula, "wider formula: scroll →");
});
