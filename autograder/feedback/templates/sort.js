for (const table of document.querySelectorAll("table.sortable")) {
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) cell.dataset.label = table.tHead.rows[0].cells[cell.cellIndex].textContent.trim();
  for (const header of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[header.cellIndex].dataset.value ?? row.cells[header.cellIndex].textContent.trim();
      const compare = (one, other) => {
        const numbers = [parseFloat(one), parseFloat(other)];
        // What is not known stays last, whichever way the column is sorted.
        if (one === "" || other === "") return (one === "") - (other === "");
        const order = numbers.some(Number.isNaN) ? one.localeCompare(other, "en", { numeric: true }) : numbers[0] - numbers[1];
        return down ? -order : order;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((one, other) => compare(value(one), value(other))));
    });
  }
}
