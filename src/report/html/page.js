// SPDX-License-Identifier: Apache-2.0
// Puts figures and tables into their places, and keeps their colors those of the page.

class Contents {
  constructor() {
    this.figures = [];
    this.tables = [];
  }

  // From the data and the places that the page has now.
  fill() {
    const data = JSON.parse(document.getElementById('data').textContent);
    for (const figure of this.figures) figure.end();
    this.figures = [];
    this.tables = [];
    data.sections.forEach((section, number) => {
      const place = document.getElementById(`figures${number}`);
      const title = document.getElementById(`h${number}`).textContent;
      const made = [...section.figures.map((figure) => new Figure(figure, data.commands, title)),
                    ...section.bars.map((bars) => new BarFigure(bars, data.commands, title))];
      for (const figure of made) {
        place.append(figure.element);
        figure.start();
        this.figures.push(figure);
      }
      const tables = section.tables.map((table) => new SortedTable(table, title));
      document.getElementById(`tables${number}`).append(...tables.map((table) => table.element));
      this.tables.push(...tables);
    });
  }

  // What a reader has chosen to see, for the same page with more values.
  choices() {
    return {figures: this.figures.map((figure) => figure.choice()), tables: this.tables.map((table) => table.choice())};
  }
  choose({figures, tables}) {
    this.figures.forEach((figure, number) => {
      if (figures[number]?.title === figure.title) figure.choose(figures[number]);
    });
    this.tables.forEach((table, number) => {
      if (tables[number]?.title === table.data.title) table.choose(tables[number]);
    });
  }

  paint() {
    for (const figure of this.figures) figure.paint();
  }
}

const contents = new Contents();

(function start() {
  if (typeof Chart !== 'undefined') {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
  }
  contents.fill();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => contents.paint());
  // Paper is white.
  const print = (isPaper) => {
    document.documentElement.classList.toggle('paper', isPaper);
    contents.paint();
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
})();
