"use strict";
(function () {
  function rows(table) { return Array.from(table.tBodies[0].rows); }

  function compare(column, numeric, sign) {
    return function (a, b) {
      var x = a.cells[column].dataset.value, y = b.cells[column].dataset.value;
      return sign * (numeric ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true }));
    };
  }

  function sort(table, heading) {
    var down = heading.getAttribute("aria-sort") === "ascending";
    var column = heading.cellIndex, numeric = heading.classList.contains("num");
    table.querySelectorAll("th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows(table).sort(compare(column, numeric, down ? -1 : 1)).forEach(function (row) { table.tBodies[0].appendChild(row); });
  }

  function filter(input) {
    var table = document.getElementById(input.dataset.table), wanted = input.value.trim().toLowerCase(), shown = 0;
    var all = rows(table);
    all.forEach(function (row) {
      var fits = row.textContent.toLowerCase().indexOf(wanted) >= 0;
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    document.getElementById(input.dataset.table + "-shown").textContent = shown + " of " + all.length + " shown";
  }

  document.querySelectorAll("table[id] thead button").forEach(function (button) {
    button.addEventListener("click", function () { sort(button.closest("table"), button.closest("th")); });
  });
  document.querySelectorAll("input[data-table]").forEach(function (input) {
    input.addEventListener("input", function () { filter(input); });
  });

  var theme = document.getElementById("theme"), root = document.documentElement;
  function isDark() {
    return (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  }
  function nameTheme() { theme.textContent = isDark() ? "Light" : "Dark"; }
  nameTheme();
  theme.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });

  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = Array.from(document.querySelectorAll("details:not([open])"));
    closed.forEach(function (part) { part.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (part) { part.open = false; }); });
}());
