// SPDX-License-Identifier: Apache-2.0
// A long table: sorted by a click or a key on a heading, filtered by words, a hundred rows at a time.

const kRowsAtFirst = 100;

function cellText(value, column) {
  if (value === null) return '–';
  if (typeof value !== 'number') return String(value);
  if (column.name === 'bytes' || column.name.endsWith('_bytes')) return sizeText(value);
  return Number.isInteger(value) ? String(value) : digitsOf(value, column.digits);
}

function compareCells(a, b) {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

class SortedTable {
  constructor(data, about) {
    this.data = data;
    this.rows = data.rows.map((cells) => ({cells, words: null}));
    this.isNumber = data.columns.map((column, place) =>
      data.rows.every((row) => row[place] === null || typeof row[place] === 'number'));
    // Long words get room, short ones stay in a line.
    this.classes = data.columns.map((column, place) => {
      const longest = Math.max(0, ...data.rows.map((row) => typeof row[place] === 'string' ? row[place].length : 0));
      return this.isNumber[place] ? 'number' : longest > 40 ? 'wide' : longest < 28 ? 'short' : 'words';
    });
    this.sorted = {column: null, sign: 1};
    this.most = kRowsAtFirst;
    this.hasAllColumns = false;

    this.filter = element('input', {type: 'search', placeholder: 'words, such as: openmpi 64 KB',
                                    oninput: () => this.show()});
    this.all = element('input', {type: 'checkbox', onchange: () => {
      this.hasAllColumns = this.all.checked;
      this.show();
    }});
    this.count = element('span', {class: 'muted', role: 'status'});
    this.head = element('thead', {});
    this.body = element('tbody', {});
    this.same = element('p', {class: 'remark'});
    this.more = button('', () => {
      this.most = Infinity;
      this.show();
    });
    this.element = element('section', {class: 'card', 'aria-label': data.title},
      element('h3', {}, data.title),
      element('div', {class: 'controls'},
        element('label', {}, 'Filter ', this.filter),
        element('label', {class: 'check'}, this.all, ' All columns'),
        button('CSV', () => download(fileName(about, data.title), this.csv()), {'aria-label': `${data.title} as CSV`}),
        this.count),
      this.same,
      element('div', {class: 'scrolls long', tabindex: '0', role: 'region', 'aria-label': `${data.title}, rows`},
        element('table', {}, this.head, this.body)),
      this.more);
    this.show();
  }

  wordsOf(row) {
    row.words ??= row.cells.map((cell, place) => cellText(cell, this.data.columns[place])).join('\n').toLowerCase();
    return row.words;
  }

  chosenRows() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    const rows = this.rows.filter((row) => words.every((word) => this.wordsOf(row).includes(word)));
    const {column, sign} = this.sorted;
    // What is not there comes last in either direction.
    if (column !== null)
      rows.sort((a, b) => {
        const [left, right] = [a.cells[column], b.cells[column]];
        return left === null || right === null ? compareCells(left, right) : sign * compareCells(left, right);
      });
    return rows;
  }

  // Places of columns: without those for machines, those without a value, and those that say the same in all rows.
  chosenColumns() {
    const places = this.data.columns.map((column, place) => place);
    if (this.hasAllColumns) return {places, same: []};
    const values = (place) => new Set(this.rows.map((row) => row.cells[place]));
    const isSame = (place) => this.rows.length > 1 && values(place).size === 1;
    const hasValue = (place) => this.rows.some((row) => row.cells[place] !== null);
    const kept = places.filter((place) => !this.data.columns[place].aside && hasValue(place));
    return {places: kept.filter((place) => !isSame(place)), same: kept.filter(isSame)};
  }

  choice() {
    return {title: this.data.title, words: this.filter.value, sorted: this.sorted, hasAllColumns: this.hasAllColumns,
            most: this.most};
  }
  choose({words, sorted, hasAllColumns, most}) {
    this.filter.value = words;
    this.all.checked = hasAllColumns;
    Object.assign(this, {hasAllColumns, most});
    if (sorted.column < this.data.columns.length) this.sorted = sorted;
    this.show();
  }

  sortBy(column) {
    const isSame = this.sorted.column === column;
    this.sorted = {column, sign: isSame ? -this.sorted.sign : 1};
    this.show();
    this.head.querySelector(`[data-column="${column}"]`).focus();
  }

  heading(place) {
    const {column, sign} = this.sorted;
    const order = column !== place ? 'none' : sign > 0 ? 'ascending' : 'descending';
    const arrow = {none: '', ascending: ' ▲', descending: ' ▼'}[order];
    const name = this.data.columns[place].name;
    return element('th', {scope: 'col', 'aria-sort': order, class: this.isNumber[place] ? 'number' : null},
      button(name.replaceAll('_', ' '), () => this.sortBy(place), {'data-column': place, title: `Sort by ${name}`}),
      element('span', {class: 'arrow', 'aria-hidden': 'true'}, arrow));
  }

  show() {
    const rows = this.chosenRows();
    const {places, same} = this.chosenColumns();
    this.head.replaceChildren(element('tr', {}, ...places.map((place) => this.heading(place))));
    this.body.replaceChildren(...rows.slice(0, this.most).map((row) => element('tr', {}, ...places.map((place) =>
      element('td', {class: this.classes[place]},
              cellText(row.cells[place], this.data.columns[place]))))));
    this.same.hidden = same.length === 0;
    this.same.textContent = 'The same in all rows: ' + same.map((place) =>
      `${this.data.columns[place].name}=${cellText(this.rows[0].cells[place], this.data.columns[place])}`).join(', ');
    this.count.textContent = `${rows.length} of ${this.rows.length} rows`;
    this.more.hidden = rows.length <= this.most;
    this.more.textContent = `Show all ${rows.length} rows`;
  }

  // What is chosen, in full.
  csv() {
    return csvOf([this.data.columns.map((column) => column.name), ...this.chosenRows().map((row) => row.cells)]);
  }
}
