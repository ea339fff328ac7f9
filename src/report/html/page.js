// SPDX-License-Identifier: Apache-2.0
// Puts figures and tables into their places, and keeps their colors those of the page.

(function start() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const figures = [];
  if (typeof Chart !== 'undefined') {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
  }
  data.sections.forEach((section, number) => {
    const place = document.getElementById(`figures${number}`);
    const title = document.getElementById(`h${number}`).textContent;
    const made = [...section.figures.map((figure) => new Figure(figure, data.commands, title)),
                  ...section.bars.map((bars) => new BarFigure(bars, data.commands, title))];
    for (const figure of made) {
      place.append(figure.element);
      figure.start();
      figures.push(figure);
    }
    document.getElementById(`tables${number}`).append(
      ...section.tables.map((table) => new SortedTable(table, title).element));
  });

  const paintAll = () => figures.forEach((figure) => figure.paint());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paintAll);
  // Paper is white.
  const print = (isPaper) => {
    document.documentElement.classList.toggle('paper', isPaper);
    paintAll();
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
})();
