document.querySelectorAll("table.sortable").forEach(function (table) {
  table.querySelectorAll("thead th button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.parentNode, column = head.cellIndex, body = table.tBodies[0];
      var down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach(function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var value = function (row) { return row.cells[column].dataset.value || row.cells[column].textContent.trim(); };
      Array.from(body.rows).sort(function (a, b) {
        var order = value(a).localeCompare(value(b), undefined, { numeric: true });
        return down ? -order : order;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
