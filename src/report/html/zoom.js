// SPDX-License-Identifier: Apache-2.0
// Dragging over a plot selects a part of it. A mouse selects a box, or sizes only where it moves nearly level; a finger
// selects sizes, since up and down it scrolls the page.

const kLeastDrag = 8; // of pixels; below, it is a click
const kLevelDrag = 24;

// `onSelect` is given {left, right} and, of a box, {top, bottom}, in pixels of the canvas.
function watchDrag(canvas, onSelect) {
  const box = element('div', {class: 'selection', hidden: true});
  canvas.after(box);
  let start = null;

  const selected = (event) => {
    const here = {x: event.offsetX, y: event.offsetY};
    const part = {left: Math.min(start.x, here.x), right: Math.max(start.x, here.x)};
    if (event.pointerType === 'mouse' && Math.abs(here.y - start.y) > kLevelDrag) {
      part.top = Math.min(start.y, here.y);
      part.bottom = Math.max(start.y, here.y);
    }
    return part;
  };
  const end = () => {
    start = null;
    box.hidden = true;
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    start = {x: event.offsetX, y: event.offsetY};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!start) return;
    const part = selected(event);
    const top = part.top ?? 0;
    const bottom = part.bottom ?? canvas.clientHeight;
    box.hidden = part.right - part.left < kLeastDrag;
    box.style.left = `${part.left}px`;
    box.style.width = `${part.right - part.left}px`;
    box.style.top = `${top}px`;
    box.style.height = `${bottom - top}px`;
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!start) return;
    const part = selected(event);
    end();
    if (part.right - part.left >= kLeastDrag) onSelect(part);
  });
  canvas.addEventListener('pointercancel', end);
}
