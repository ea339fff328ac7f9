// SPDX-License-Identifier: Apache-2.0
// Values as people read them, and elements that are made without markup, so that no name can become any.
'use strict';

// Attributes that begin with "on" are listeners; true is an attribute without a value, false and null are none.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

function shape(tag, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function digitsOf(value, count) {
  return String(Number(value.toPrecision(count)));
}

// Only whole numbers of a unit have it: 1000 B, 64 KB.
function sizeText(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (unit + 1 < units.length && bytes >= 1024 && bytes % 1024 === 0) {
    bytes /= 1024;
    ++unit;
  }
  return `${digitsOf(bytes, 6)} ${units[unit]}`;
}

function timeText(micros) {
  const units = [[1e6, 's'], [1e3, 'ms'], [1, 'us'], [1e-3, 'ns']];
  const [scale, unit] = units.find(([least]) => micros >= 0.9995 * least) ?? units[3];
  return `${digitsOf(micros / scale, 3)} ${unit}`;
}

function rateText(gigabytes) {
  const units = [[1, 'GB/s'], [1e-3, 'MB/s'], [1e-6, 'KB/s']];
  const [scale, unit] = units.find(([least]) => gigabytes >= 0.9995 * least) ?? units[2];
  return `${digitsOf(gigabytes / scale, 3)} ${unit}`;
}

// An axis is called "time, us": what it is, and its unit. One that is called "percent" is its own unit.
function unitOf(axis) {
  const comma = axis.lastIndexOf(', ');
  return comma < 0 ? axis : axis.slice(comma + 2);
}

function valueText(value, axis) {
  const write = {us: timeText, 'GB/s': rateText}[unitOf(axis)];
  const unit = unitOf(axis) === 'percent' ? '%' : unitOf(axis);
  return write ? write(value) : `${digitsOf(value, 3)} ${unit}`;
}

function rangeText(range, axis) {
  return range ? ` (${valueText(range[0], axis)} to ${valueText(range[1], axis)})` : '';
}

// A spreadsheet would calculate what begins like a formula.
function csvCell(value) {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(rows) {
  return rows.map((row) => row.map(csvCell).join(',') + '\r\n').join('');
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  const link = element('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function fileName(...words) {
  return words.join(' ').replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '').slice(0, 80) + '.csv';
}

function button(words, onclick, attributes = {}) {
  return element('button', {type: 'button', onclick, ...attributes}, words);
}
