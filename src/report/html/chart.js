// SPDX-License-Identifier: Apache-2.0
// One chart: lines over sizes with bands of their intervals, or bars. Colors are variables of the style sheet.

const kMarks = ['circle', 'rect', 'triangle', 'rectRot', 'triangle', 'crossRot', 'cross', 'star'];
const kUpsideDown = 4; // the number of the second triangle
const kMostInTooltip = 10;

function colorsNow() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    ink: of('--ink'),
    muted: of('--muted'),
    grid: of('--grid'),
    surface: of('--surface'),
    line: (number) => of(number === null ? '--line-other' : `--line-${number}`),
  };
}

function isMain(dataset) {
  return !dataset.band;
}

// The lower and upper ends of intervals, then the line, in this order: a band fills to the dataset before it.
function datasetsOf(figure, chart) {
  const datasets = [];
  for (const line of chart.lines) {
    const {name, style} = figure.series[line.series];
    const common = {label: name, series: line.series, style, command: line.command, pointHitRadius: 0,
                    order: style === null ? 1 : 0}; // grey lines lie below
    if (line.points.some((point) => point.length > 2)) {
      for (const end of [2, 3]) {
        const data = line.points.map((point) => ({x: point[0], y: point[end] ?? point[1]}));
        datasets.push({...common, band: true, data, borderWidth: 0, pointRadius: 0, pointHoverRadius: 0,
                       fill: end === 3 ? '-1' : false});
      }
    }
    const data = line.points.map(([x, y, low, high]) => ({x, y, range: low === undefined ? null : [low, high]}));
    // Of a range only the band is seen; its values are still said.
    const width = style === null ? 1 : 2;
    const radius = style === null ? 1.5 : line.dashed ? 4.5 : 3.5;
    datasets.push({...common, data, range: line.range, hollow: line.dashed, borderWidth: line.range ? 0 : width,
                   borderDash: line.dashed ? [5, 4] : [],
                   pointStyle: kMarks[style ?? 0], rotation: style === kUpsideDown ? 180 : 0,
                   pointRadius: line.range ? 0 : radius, pointHoverRadius: style === null ? 3 : 6,
                   pointBorderWidth: 1.5});
  }
  return datasets;
}

// What is said of a point: of a range its ends alone.
function pointText(dataset, point, axis) {
  if (dataset.range && point.range) return point.range.map((value) => valueText(value, axis)).join(' to ');
  return valueText(point.y, axis) + rangeText(point.range, axis);
}

function paintDatasets(chart, colors) {
  for (const dataset of chart.data.datasets) {
    const color = colors.line(dataset.style);
    dataset.borderColor = color;
    dataset.backgroundColor = dataset.band ? `${color}33` : color;
    if (dataset.hollow) dataset.pointBackgroundColor = colors.surface;
  }
}

function paint(chart) {
  const colors = colorsNow();
  paintDatasets(chart, colors);
  for (const scale of Object.values(chart.options.scales)) {
    scale.grid.color = colors.grid;
    scale.grid.borderColor = colors.muted;
    scale.ticks.color = colors.ink;
    scale.title.color = colors.ink;
  }
  Object.assign(chart.options.plugins.tooltip, {
    backgroundColor: colors.surface, borderColor: colors.muted, borderWidth: 1, titleColor: colors.ink,
    bodyColor: colors.ink, footerColor: colors.muted});
  chart.update(); // 'none' would leave points and bars in the colors that they had
}

// Of each decade 1, 2 and 5, or 1 alone where that would be too many.
function niceTicks(min, max) {
  const steps = Math.log10(max / min) > 2.5 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); ++power)
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= min && value <= max) ticks.push({value});
    }
  return ticks;
}

// Of sizes, those whose names have room beside each other: the first and the last, and what fits between.
function apart(sizes, axis) {
  const kRoom = 62; // of pixels, for a name
  const gap = Math.log(axis.max / axis.min) * kRoom / Math.max(axis.chart.width - 2 * kRoom, kRoom);
  const kept = [];
  for (const size of sizes)
    if (kept.length === 0 || Math.log(size / kept.at(-1)) >= gap) kept.push(size);
  const last = sizes.at(-1);
  if (kept.length > 1 && kept.at(-1) !== last) kept[kept.length - 1] = last;
  return kept;
}

function scaleOf(type, words, write) {
  return {type, title: {display: true, text: words}, grid: {}, ticks: {callback: write, maxRotation: 0}};
}

function lineOptions(chart, xName, sizes, onHover) {
  const x = scaleOf('logarithmic', xName, (value) => sizeText(value));
  x.afterBuildTicks = (axis) => {
    axis.ticks = apart(sizes.filter((size) => size >= axis.min && size <= axis.max), axis).map((value) => ({value}));
  };
  x.ticks.autoSkip = false;
  const y = scaleOf(chart.linear ? 'linear' : 'logarithmic', chart.y.split(', ')[0],
                    (value) => valueText(value, chart.y));
  y.ticks.includeBounds = false; // which are no round values
  if (!chart.linear)
    y.afterBuildTicks = (axis) => {
      const ticks = niceTicks(axis.min, axis.max);
      if (ticks.length >= 2) axis.ticks = ticks;
    };
  const label = (item) => ` ${item.dataset.label}: ${pointText(item.dataset, item.raw, chart.y)}`;
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false,
    interaction: {mode: 'nearest', axis: 'x', intersect: false},
    scales: {x, y},
    onHover: (event, items) => onHover(items),
    plugins: {
      legend: {display: false},
      tooltip: {
        usePointStyle: true,
        filter: (item, place, items) => isMain(item.dataset) && items.indexOf(item) < 3 * kMostInTooltip,
        itemSort: (a, b) => b.raw.y - a.raw.y,
        callbacks: {title: (items) => items.length ? sizeText(items[0].raw.x) : '', label},
      },
    },
  };
}

function whiskers() {
  return {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const context = chart.ctx;
      context.save();
      context.strokeStyle = colorsNow().ink;
      context.lineWidth = 1.2;
      chart.data.datasets.forEach((dataset, number) => {
        chart.getDatasetMeta(number).data.forEach((bar, place) => {
          const range = dataset.ranges[place];
          if (!range || !chart.isDatasetVisible(number)) return;
          const [low, high] = range.map((value) => chart.scales.x.getPixelForValue(value));
          context.beginPath();
          context.moveTo(low, bar.y);
          context.lineTo(high, bar.y);
          for (const end of [low, high]) {
            context.moveTo(end, bar.y - 4);
            context.lineTo(end, bar.y + 4);
          }
          context.stroke();
        });
      });
      context.restore();
    },
  };
}

function barDatasets(panel) {
  return panel.kinds.map((kind, number) => {
    const bars = panel.groups.map((group) => group.bars.find((bar) => bar.kind === number) ?? null);
    return {label: kind, style: panel.styles[number], series: number, data: bars.map((bar) => bar?.value ?? null),
            ranges: bars.map((bar) => bar?.range ?? null), commands: bars.map((bar) => bar?.command ?? null),
            maxBarThickness: 26};
  });
}

function barOptions(panel, onHover) {
  const x = scaleOf('linear', panel.y.split(', ')[0], (value) => value === 0 ? '0' : valueText(value, panel.y));
  x.beginAtZero = true;
  x.stacked = panel.stacked;
  // Whiskers are to end within the chart.
  x.suggestedMax = Math.max(0, ...panel.groups.flatMap((group) => group.bars.map((bar) => bar.range?.[1] ?? 0)));
  const y = scaleOf('category', '', function(value) {
    const name = this.getLabelForValue(value);
    const most = this.chart.width < 500 ? 18 : 48;
    return name.length > most ? `${name.slice(0, most - 1)}…` : name;
  });
  y.title.display = false;
  y.stacked = panel.stacked;
  const label = (item) =>
    ` ${item.dataset.label}: ${valueText(item.raw, panel.y)}${rangeText(item.dataset.ranges[item.dataIndex], panel.y)}`;
  return {
    indexAxis: 'y', animation: false, responsive: true, maintainAspectRatio: false,
    interaction: {mode: 'nearest', axis: 'y', intersect: false},
    scales: {x, y},
    onHover: (event, items) => onHover(items),
    plugins: {legend: {display: false}, tooltip: {callbacks: {label}}},
  };
}
