// SPDX-License-Identifier: Apache-2.0
// A figure: the charts of one case beside each other, the legend that they share, zoom, and what is said of a value.

const kHelp = 'Drag over a chart to zoom, double-click to go back. With the keyboard, arrow keys show values, ' +
  '+ and − zoom, 0 goes back.';
const kKeyPaths = ['M11 4a3.5 3.5 0 1 0 .01 0z', 'M8 4.5h6v6h-6z', 'M11 4l4 7h-8z', 'M11 3l4.5 4.5-4.5 4.5-4.5-4.5z',
                   'M11 11.5l4-7h-8z', 'M7.5 4l7 7m0-7l-7 7', 'M11 3v9m-4.5-4.5h9', 'M11 3v9m-4.5-4.5h9m-7.5-3l6 6m0-6l-6 6'];

function swatch(style) {
  const picture = shape('svg', {class: style === null ? 'line-other' : `line-${style}`, viewBox: '0 0 22 15',
                                width: 22, height: 15, 'aria-hidden': 'true'});
  picture.append(shape('path', {d: 'M0 7.5h22'}));
  if (style !== null) picture.append(shape('path', {class: 'mark', d: kKeyPaths[style]}));
  return picture;
}

// The buttons that show and hide a series; `onChange` is told after each.
function legend(series, shown, onChange) {
  const buttons = series.map(({name, style}, number) => element('button', {
    type: 'button', class: 'key', 'aria-pressed': 'true', title: `Show or hide ${name}`,
    onclick: () => set([number], !shown.has(number)),
  }, swatch(style), element('span', {}, name)));
  const set = (numbers, isShown) => {
    for (const number of numbers) {
      if (isShown) shown.add(number);
      else shown.delete(number);
      buttons[number].setAttribute('aria-pressed', String(isShown));
    }
    onChange();
  };
  const list = element('div', {class: 'legend', role: 'group', 'aria-label': 'Series'}, ...buttons);
  if (series.length > 4) {
    const all = series.map((one, number) => number);
    list.append(button('All', () => set(all, true), {class: 'plain'}),
                button('None', () => set(all, false), {class: 'plain'}));
  }
  return list;
}

// What is said of a whole chart: its remark, and what kinds of lines and bands mean.
function caption(data) {
  const kPaths = {full: ['M0 7.5h22', ''], dashed: ['M0 7.5h22', '5 4'], range: ['M0 3.5h22v8h-22z', '']};
  const keys = (data.keys ?? []).map(({kind, words}) => {
    const picture = shape('svg', {class: `meaning-${kind}`, viewBox: '0 0 22 15', width: 22, height: 15,
                                  'aria-hidden': 'true'});
    picture.append(shape('path', {d: kPaths[kind][0], 'stroke-dasharray': kPaths[kind][1]}));
    if (kind !== 'range') picture.append(shape('circle', {cx: 11, cy: 7.5, r: 3.5}));
    return element('span', {class: 'meaning'}, picture, words);
  });
  return [...(data.remark ? [element('p', {class: 'remark'}, data.remark)] : []),
          ...(keys.length ? [element('p', {class: 'remark meanings'}, ...keys)] : [])];
}

// Hides series by their names, as a press of their keys does.
function hideSeries(element, names, hidden) {
  const keys = element.querySelectorAll('.key');
  names.forEach((name, number) => {
    if (hidden.includes(name)) keys[number]?.click();
  });
}

class Figure {
  constructor(data, commands, fallbackTitle) {
    this.data = data;
    this.commands = commands;
    this.title = data.title || fallbackTitle;
    this.shown = new Set(data.series.map((one, number) => number));
    this.sizes = [...new Set(data.charts.flatMap((chart) => chart.lines.flatMap(
      (line) => line.points.map((point) => point[0]))))].sort((a, b) => a - b);
    this.range = null; // of sizes, where it is zoomed
    this.current = null; // the place in sizes that the keyboard shows
    this.views = [];
    this.reset = button('Reset zoom', () => this.showAll(), {disabled: true});
    this.readout = element('p', {class: 'readout', 'aria-live': 'polite'}, kHelp);
    this.element = element('figure', {class: 'card'},
      element('figcaption', {}, element('h3', {}, this.title), ...caption(data)),
      legend(data.series, this.shown, () => this.apply()),
      element('div', {class: 'charts'}, ...data.charts.map((chart) => this.makeView(chart))),
      element('div', {class: 'tools'}, this.reset, this.readout));
  }

  makeView(chart) {
    const canvas = element('canvas', {tabindex: '0', role: 'img',
      'aria-label': `${chart.y} over ${this.data.x}, ${this.title}. ${kHelp}`});
    const view = {chart, canvas, range: null, live: null};
    this.views.push(view);
    const csv = button('CSV', () => download(fileName(this.title, chart.y), this.csvOf(chart)),
                       {'aria-label': `${chart.y} of ${this.title} as CSV`});
    const better = element('span', {class: 'muted'}, `${chart.better} is better`);
    return element('div', {class: 'chart'},
      element('div', {class: 'head'}, element('h4', {}, chart.y.split(', ')[0], ' ', better), csv),
      element('div', {class: 'plot'}, canvas));
  }

  // Once it is in the page, since charts take the size of their places.
  start() {
    for (const view of this.views) {
      view.live = new Chart(view.canvas, {
        type: 'line',
        data: {datasets: datasetsOf(this.data, view.chart)},
        options: lineOptions(view.chart, this.data.x, this.sizes, (items) => this.tell(view, items)),
      });
      watchDrag(view.canvas, (part) => this.zoomTo(view, part));
      view.canvas.addEventListener('dblclick', () => this.showAll());
      view.canvas.addEventListener('keydown', (event) => this.onKey(view, event));
    }
    this.apply();
    this.paint();
  }

  paint() {
    for (const view of this.views) paint(view.live);
  }

  end() {
    for (const view of this.views) view.live.destroy();
  }

  // --- what is seen

  choice() {
    return {title: this.title, range: this.range, ranges: this.views.map((view) => view.range),
            hidden: this.data.series.filter((one, number) => !this.shown.has(number)).map(({name}) => name)};
  }
  choose({range, ranges, hidden}) {
    this.range = range;
    this.views.forEach((view, number) => {
      view.range = ranges[number] ?? null;
    });
    hideSeries(this.element, this.data.series.map(({name}) => name), hidden);
    this.apply();
  }

  fullRange() {
    return [this.sizes[0] / 1.4, this.sizes.at(-1) * 1.4];
  }

  // Around all values of shown series at sizes in the range.
  fittingRange(view, [from, to]) {
    let least = Infinity;
    let greatest = -Infinity;
    for (const line of view.chart.lines) {
      if (!this.shown.has(line.series)) continue;
      for (const [x, ...values] of line.points) {
        if (x < from || x > to) continue;
        least = Math.min(least, ...values.filter((value) => view.chart.linear || value > 0));
        greatest = Math.max(greatest, ...values);
      }
    }
    if (least > greatest) return [undefined, undefined];
    const margin = view.chart.linear ? 0.08 * (greatest - least || 1) : 0;
    return view.chart.linear ? [least - margin, greatest + margin] : [least / 1.25, greatest * 1.25];
  }

  apply() {
    const range = this.range ?? this.fullRange();
    for (const view of this.views) {
      const {x, y} = view.live.options.scales;
      [x.min, x.max] = range;
      [y.min, y.max] = view.range ?? this.fittingRange(view, range);
      view.live.data.datasets.forEach((dataset, number) =>
        view.live.setDatasetVisibility(number, this.shown.has(dataset.series)));
      view.live.update('none');
    }
    this.reset.disabled = !this.range && this.views.every((view) => !view.range);
  }

  zoomTo(view, part) {
    const {x, y} = view.live.scales;
    this.range = [x.getValueForPixel(part.left), x.getValueForPixel(part.right)];
    for (const each of this.views) each.range = null;
    if (part.top !== undefined) view.range = [y.getValueForPixel(part.bottom), y.getValueForPixel(part.top)];
    this.apply();
  }

  showAll() {
    this.range = null;
    for (const view of this.views) view.range = null;
    this.apply();
  }

  // By a factor around the current size, or the middle.
  zoomBy(factor) {
    const [from, to] = (this.range ?? this.fullRange()).map(Math.log);
    const middle = this.current === null ? (from + to) / 2 : Math.log(this.sizes[this.current]);
    const range = [middle + (from - middle) * factor, middle + (to - middle) * factor];
    const full = this.fullRange().map(Math.log);
    for (const view of this.views) view.range = null;
    this.range = [Math.max(range[0], full[0]), Math.min(range[1], full[1])].map(Math.exp);
    if (this.range[0] <= Math.exp(full[0]) * 1.001 && this.range[1] >= Math.exp(full[1]) / 1.001) this.range = null;
    this.apply();
  }

  onKey(view, event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step) this.showSize(view, step);
    else if (event.key === '+' || event.key === '=') this.zoomBy(0.6);
    else if (event.key === '-') this.zoomBy(1 / 0.6);
    else if (event.key === '0' || event.key === 'Escape') this.showAll();
    else return;
    event.preventDefault();
  }

  // The next or previous size, as if the mouse were there.
  showSize(view, step) {
    const last = this.sizes.length - 1;
    const next = this.current === null ? (step > 0 ? 0 : last) : this.current + step;
    this.current = Math.min(Math.max(next, 0), last);
    const items = [];
    view.live.data.datasets.forEach((dataset, datasetIndex) => {
      const index = dataset.data.findIndex((point) => point.x === this.sizes[this.current]);
      if (isMain(dataset) && index >= 0 && this.shown.has(dataset.series)) items.push({datasetIndex, index});
    });
    const {x, y} = view.live.scales;
    const place = {x: x.getPixelForValue(this.sizes[this.current]), y: (y.top + y.bottom) / 2};
    view.live.setActiveElements(items);
    view.live.tooltip.setActiveElements(items, place);
    view.live.update('none');
    this.tell(view, items);
  }

  // --- what is said

  tell(view, items) {
    const main = items.filter(({datasetIndex}) => isMain(view.live.data.datasets[datasetIndex]));
    if (main.length === 0) return;
    const texts = [];
    const commands = new Set();
    for (const {datasetIndex, index} of main) {
      const dataset = view.live.data.datasets[datasetIndex];
      const point = dataset.data[index];
      if (dataset.command !== null) commands.add(this.commands[dataset.command]);
      texts.push(`${dataset.label} ${pointText(dataset, point, view.chart.y)}`);
      this.current = this.sizes.indexOf(point.x);
    }
    const more = texts.length > kMostInTooltip ? `; ${texts.length - kMostInTooltip} more` : '';
    this.readout.replaceChildren(
      element('strong', {}, sizeText(this.sizes[this.current])), ` ${texts.slice(0, kMostInTooltip).join('; ')}${more}. `);
    for (const command of commands) this.readout.append('Made by ', element('code', {}, command), ' ');
  }

  csvOf(chart) {
    const rows = [['series', 'bytes', chart.y, 'low', 'high', 'command']];
    for (const line of chart.lines)
      for (const [x, y, low, high] of line.points)
        rows.push([this.data.series[line.series].name, x, y, low ?? null, high ?? null,
                   line.command === null ? null : this.commands[line.command]]);
    return csvOf(rows);
  }
}

// Bars have a legend where there are several kinds, and no zoom.
class BarFigure {
  constructor(data, commands, fallbackTitle) {
    this.data = data;
    this.commands = commands;
    this.title = data.title || fallbackTitle;
    this.shown = new Set(data.kinds.map((kind, number) => number));
    this.canvas = element('canvas', {role: 'img', 'aria-label': `${data.y}, ${this.title}`});
    this.plot = element('div', {class: 'plot'}, this.canvas);
    this.readout = element('p', {class: 'readout', 'aria-live': 'polite'}, 'Point at a bar to see what made it.');
    const csv = button('CSV', () => download(fileName(this.title, data.y), this.csv()),
                       {'aria-label': `${data.y} of ${this.title} as CSV`});
    const keys = data.kinds.map((name, number) => ({name, style: data.styles[number]}));
    this.element = element('figure', {class: 'card'},
      element('figcaption', {}, element('h3', {}, this.title), ...caption(data)),
      keys.length > 1 ? legend(keys, this.shown, () => this.apply()) : '',
      element('div', {class: 'head'}, element('h4', {}, data.y.split(', ')[0]), csv),
      this.plot, this.readout);
  }

  start() {
    const num = this.data.groups.length * (this.data.stacked ? 2 : this.data.kinds.length);
    this.plot.style.height = `${Math.min(80 + 30 * num, 2400)}px`;
    this.live = new Chart(this.canvas, {
      type: 'bar',
      data: {labels: this.data.groups.map((group) => group.name), datasets: barDatasets(this.data)},
      options: barOptions(this.data, (items) => this.tell(items)),
      plugins: [whiskers()],
    });
    this.paint();
  }

  end() {
    this.live.destroy();
  }

  choice() {
    return {title: this.title, hidden: this.data.kinds.filter((kind, number) => !this.shown.has(number))};
  }
  choose({hidden}) {
    hideSeries(this.element, this.data.kinds, hidden);
  }

  apply() {
    this.live.data.datasets.forEach((dataset, number) =>
      this.live.setDatasetVisibility(number, this.shown.has(number)));
    this.live.update('none');
  }

  paint() {
    paint(this.live);
  }

  tell(items) {
    if (items.length === 0) return;
    const {datasetIndex, index} = items[0];
    const dataset = this.live.data.datasets[datasetIndex];
    const kind = this.data.kinds.length > 1 ? dataset.label : '';
    const name = [this.data.groups[index].name, kind].filter((part) => part).join(', ');
    const words = `${name}: ${valueText(dataset.data[index], this.data.y)}` +
      rangeText(dataset.ranges[index], this.data.y);
    this.readout.replaceChildren(`${words}. `);
    if (dataset.commands[index] !== null)
      this.readout.append('Made by ', element('code', {}, this.commands[dataset.commands[index]]));
  }

  csv() {
    const rows = [['case', 'kind', this.data.y, 'low', 'high', 'command']];
    for (const group of this.data.groups)
      for (const bar of group.bars)
        rows.push([group.name, this.data.kinds[bar.kind], bar.value, bar.range?.[0] ?? null, bar.range?.[1] ?? null,
                   bar.command === null ? null : this.commands[bar.command]]);
    return csvOf(rows);
  }
}
